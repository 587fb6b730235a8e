/**
 * The public interface of the command line. It also takes kinds from other packages:
 *
 *     void runCommandLine(process.argv.slice(2), [toCliKind(orderKind)]);
 */
import './supported-node';

export { type CliKind, toCliKind } from './adapters/cli/kinds';
export { runCommandLine } from './service/command-line';
