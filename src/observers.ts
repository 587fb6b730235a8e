import type { CollectionObserver } from './application';

/** Several who watch the same collections, as one. */
export function together(...all: readonly CollectionObserver[]): CollectionObserver {
  return {
    round: (...told) => all.forEach((each) => each.round?.(...told)),
    appended: (...told) => all.forEach((each) => each.appended?.(...told)),
    conflict: () => all.forEach((each) => each.conflict?.()),
    historyLost: (...told) => all.forEach((each) => each.historyLost?.(...told)),
    loaded: (...told) => all.forEach((each) => each.loaded?.(...told)),
    tooLarge: (...told) => all.forEach((each) => each.tooLarge?.(...told)),
    loading: (...told) => all.forEach((each) => each.loading?.(...told)),
    fault: (...told) => all.forEach((each) => each.fault?.(...told)),
  };
}
