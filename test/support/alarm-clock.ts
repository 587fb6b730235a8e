import { ManualClock } from './manual-clock';

/** Also counts the alarms that are set: code that repeats work at intervals is idle while it waits for the next alarm. */
export class AlarmClock extends ManualClock {
  waiting = 0;

  override after(ms: number, action: () => void): () => void {
    let set = true;
    this.waiting++;
    const unset = () => {
      if (set) this.waiting--;
      set = false;
    };
    const cancel = super.after(ms, () => {
      unset();
      action();
    });
    return () => {
      unset();
      cancel();
    };
  }
}
