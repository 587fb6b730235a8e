/**
 * The public interface of the command line. It also takes kinds from other packages:
 *
 *     void runCommandLine(process.argv.slice(2), [shown(orderKind)]);
 */
import './supported-node';

export { type CliKind, shown } from './adapters/cli/kinds';
export { runCommandLine } from './service/command-line';
