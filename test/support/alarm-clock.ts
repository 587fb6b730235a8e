import { ManualClock } from './manual-clock';

/** Also tells how many alarms are set: whoever goes on in his own time has come to rest when he waits for the next. */
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
