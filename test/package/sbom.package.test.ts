import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface Bill {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly {
    readonly group?: string;
    readonly name: string;
    readonly version: string;
  }[];
}

describe('The bill of materials', function () {
  this.timeout(60_000);

  it('has every package of the service, also those that development needs, and Swagger UI, and no other', () => {
    const bill = JSON.parse(execFileSync('bash', ['scripts/sbom.sh'], { encoding: 'utf8' })) as Bill;
    const { dependencies } = JSON.parse(readFileSync('service/package.json', 'utf8')) as {
      dependencies: object;
    };
    const names = bill.components.map(({ name }) => name);
    expect(bill.bomFormat).to.equal('CycloneDX');
    expect(bill.metadata.component.name).to.equal('plant-store');
    expect(names).to.include.members([...Object.keys(dependencies), 'swagger-ui-dist']);
    for (const name of ['mocha', 'typescript', 'fast-check', '@scarf/scarf'])
      expect(names).to.not.include(name);
  });
});
