/**
 * The executable contract of the EventStore port: cases that check its documented
 * guarantees. They are async functions, for any test framework:
 *
 *     for (const { name, run } of eventStoreContract(open, { pageSize: 3 })) it(name, run);
 *
 * Each case uses new streams with unique names, so the store need not be empty and
 * may be shared.
 */
import { archivingExamples } from './archiving';
import { closingExamples } from './closing';
import { commitIdExamples } from './commit-ids';
import { differentialCases } from './differential';
import { durableFeedExamples, feedExamples, sharedFeedExamples } from './feed';
import { lostReplyExamples } from './lost-replies';
import type { ContractOptions } from './options';
import type { OpenStore } from './place';
import { propertyCases } from './properties';
import { racingExamples } from './racing';
import { readingExamples } from './reading';
import { reopeningExamples } from './reopening';
import { type ContractCase, contractCases } from './run-cases';
import { sharedDifferentialCases, sharingExamples } from './sharing';
import { writingExamples } from './writing';

/** The cases. Each opens a store with `open`, and closes it at its end. */
export function eventStoreContract(
  open: () => OpenStore | Promise<OpenStore>,
  options: ContractOptions,
): ContractCase[] {
  const { durable = false, shared = false, loseReply, loseEvents, feedLength = 0 } = options;
  const feedCases = [feedExamples, durable ? durableFeedExamples : {}, shared ? sharedFeedExamples : {}];
  return contractCases(open, options, {
    examples: [
      ...[writingExamples, commitIdExamples, readingExamples, racingExamples, closingExamples],
      ...[durable ? reopeningExamples : {}, shared ? sharingExamples : {}],
      ...[loseReply ? lostReplyExamples : {}, loseEvents ? archivingExamples : {}],
      ...(feedLength > 0 ? feedCases : []),
    ],
    properties: [propertyCases],
    differential: [differentialCases, shared ? sharedDifferentialCases : {}],
  });
}
