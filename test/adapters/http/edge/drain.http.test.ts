import { drains } from './drain';

describe('the end of the service, in memory', () => drains(() => ({})));
