/** What goes for the whole run, whichever files are in it; see .mocharc.json. */
import { found } from './suite-log';

// Mocha hands a rejection that nobody handles back to the process, whose default it has taken away: it would pass.
// Thrown from here it counts as an error of the test that is running.
process.on('unhandledRejection', (reason) => {
  throw reason;
});

export const mochaHooks = {
  afterAll() {
    const { unclean } = found();
    if (unclean.length > 0) throw new Error(`in the log of this run:\n${unclean.slice(0, 10).join('\n')}`);
  },
};
