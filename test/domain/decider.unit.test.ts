import { expect } from 'chai';
import fc from 'fast-check';
import {
  type Command,
  NewPlant,
  type PlantEvent,
  PlantList,
  type Rejection,
  decide,
  decideInOrder,
  plantBytes,
  plantFootprint,
} from '../../src/domain';
import { create, created, deleted, given, plant, plantId, remove } from '../support/given';
import { RULES } from '../support/plant-requests';
import { PlantsOracle } from '../support/plants-oracle';
import { RUNS, anyCommand, anyCommands } from './arbitraries';

describe('Creating a plant', () => {
  it('is recorded if its id is free', () => {
    given()
      .when(create(7, 'Fern', 'indoor'))
      .then(created(7, 'Fern', 'indoor'));
  });

  it('records no tag if none was given', () => {
    given().when(create(7, 'Fern')).then(created(7, 'Fern'));
  });

  it('records the empty tag as a tag', () => {
    given()
      .when(create(7, 'Fern', ''))
      .then(created(7, 'Fern', ''));
  });

  it('is rejected while a living plant has the id, with any name and tag', () => {
    given(created(7, 'Fern')).when(create(7, 'Moss')).thenRejected('id-taken');
    given(created(7, 'Fern')).when(create(7, 'Fern')).thenRejected('id-taken');
  });

  it('is recorded if the plant with the id was deleted', () => {
    given(created(7, 'Fern'), deleted(7)).when(create(7, 'Moss')).then(created(7, 'Moss'));
  });

  it('is recorded if another plant has the same name', () => {
    given(created(7, 'Fern')).when(create(8, 'Fern')).then(created(8, 'Fern'));
  });

  it('records id, name and tag, and no other members', () => {
    const plant = NewPlant.from({ id: '7', name: 'Fern', tag: 'indoor', ...{ owner: 'eve' } }).plant!;
    const command: Command = { type: 'CreatePlant', plant };
    given()
      .when(command)
      .then(created(7, 'Fern', 'indoor'));
  });
});

describe('Deleting a plant', () => {
  it('is recorded if the plant is alive', () => {
    given(created(7, 'Fern')).when(remove(7)).then(deleted(7));
  });

  it('is rejected if no plant ever had the id', () => {
    given(created(7, 'Fern')).when(remove(8)).thenRejected('no-such-plant');
  });

  it('is rejected the second time', () => {
    given(created(7, 'Fern'), deleted(7)).when(remove(7)).thenRejected('no-such-plant');
  });

  it('deletes a plant that was created again', () => {
    given(created(7, 'Fern'), deleted(7), created(7, 'Moss')).when(remove(7)).then(deleted(7));
  });
});

/** The event that is due, and the rejection if it is not. */
function resultOf(command: Command): readonly [PlantEvent, Rejection] {
  const { event, rejected } = RULES[command.type];
  const { id, members } = 'plant' in command ? command.plant : { id: command.id, members: plant('') };
  return [event(id, members), rejected];
}

describe('Any command', () => {
  const expectDecided = (earlier: readonly Command[], command: Command) => {
    const [event, rejection] = resultOf(command);
    const isDue = plantsAfter(earlier).after(event) !== undefined;
    expect(decide(command, listAfter(earlier))).to.deep.equal(isDue ? { events: [event] } : { rejection });
  };

  it('results in its event exactly if the rules accept it, also when repeated', () => {
    fc.assert(
      fc.property(anyCommands, anyCommand, (earlier, command) => {
        expectDecided(earlier, command);
        expectDecided([...earlier, command], command);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('Commands decided in order', () => {
  it('are decided as if each earlier one had been recorded', () => {
    fc.assert(
      fc.property(anyCommands, anyCommands, (earlier, commands) => {
        const oneByOne = listAfter(earlier);
        const expected = commands.map((command) => decideAndEvolve(command, oneByOne));
        expect(decideInOrder(commands, listAfter(earlier))).to.deep.equal(expected);
      }),
      { numRuns: RUNS },
    );
  });

  it('do not change the list', () => {
    fc.assert(
      fc.property(anyCommands, anyCommands, (earlier, commands) => {
        const list = listAfter(earlier);
        decideInOrder(commands, list);
        expect(list.version).to.equal(listAfter(earlier).version);
        expect(list.page()).to.deep.equal(listAfter(earlier).page());
      }),
      { numRuns: RUNS },
    );
  });

  it('each get a decision, even after a rejection', () => {
    const commands = [create(7, 'Fern'), create(7, 'Moss'), remove(7), remove(7), create(7, 'Moss')];
    expect(decideInOrder(commands, new PlantList())).to.deep.equal([
      { events: [created(7, 'Fern')] },
      { rejection: 'id-taken' },
      { events: [deleted(7)] },
      { rejection: 'no-such-plant' },
      { events: [created(7, 'Moss')] },
    ]);
  });
});

describe('The footprint of plants', () => {
  it('is the number and the memory of the living ones', () => {
    const list = PlantList.from([created(1, 'Fern'), created(2, 'Moss', 'indoor'), deleted(1)]);
    expect(plantFootprint.items(list)).to.equal(1);
    expect(plantFootprint.bytes(list)).to.equal(plantBytes(plantId(2), plant('Moss', 'indoor')));
  });

  it('grows by no more than a command may add, with any command', () => {
    fc.assert(
      fc.property(anyCommands, anyCommand, (earlier, command) => {
        const list = listAfter(earlier);
        const before = list.bytes;
        decideAndEvolve(command, list);
        expect(list.bytes - before).to.be.at.most(plantFootprint.bytesAddedBy(command));
      }),
      { numRuns: RUNS },
    );
  });

  it('grows with a creation, and not with a deletion', () => {
    const { bytesAddedBy } = plantFootprint;
    expect(bytesAddedBy(create(2, 'Moss', 'indoor'))).to.equal(
      plantBytes(plantId(2), plant('Moss', 'indoor')),
    );
    expect(bytesAddedBy(remove(2))).to.equal(0);
  });
});

function decideAndEvolve(command: Command, list: PlantList) {
  const decision = decide(command, list);
  for (const event of decision.events ?? []) list.evolve(event);
  return decision;
}

function listAfter(commands: readonly Command[]): PlantList {
  const list = new PlantList();
  for (const command of commands) decideAndEvolve(command, list);
  return list;
}

function plantsAfter(commands: readonly Command[]): PlantsOracle {
  return commands.reduce(
    (plants, command) => plants.after(resultOf(command)[0]) ?? plants,
    PlantsOracle.NONE,
  );
}
