import { type AggregateOptions, OneAggregate } from './one-aggregate';
import { describeCases } from './script';

describeCases('aggregate.txt', (options: AggregateOptions) => new OneAggregate(options));
