import { drains } from './drain';

describe('the shutdown of the service, in memory', () => drains(() => ({})));
