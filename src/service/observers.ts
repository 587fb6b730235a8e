import type { AggregateObserver } from '../event-sourcing';

/** Combines observers into one that notifies all of them. */
export function combineObservers(...all: readonly AggregateObserver[]): AggregateObserver {
  return {
    round: (...args) => all.forEach((each) => each.round?.(...args)),
    appended: (...args) => all.forEach((each) => each.appended?.(...args)),
    conflict: () => all.forEach((each) => each.conflict?.()),
    historyLost: (...args) => all.forEach((each) => each.historyLost?.(...args)),
    loaded: (...args) => all.forEach((each) => each.loaded?.(...args)),
    snapshot: (...args) => all.forEach((each) => each.snapshot?.(...args)),
    tooLarge: (...args) => all.forEach((each) => each.tooLarge?.(...args)),
    loading: (...args) => all.forEach((each) => each.loading?.(...args)),
    fault: (...args) => all.forEach((each) => each.fault?.(...args)),
  };
}
