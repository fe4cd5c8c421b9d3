import type { Call } from "../../transport/client.ts";
import type { Failure } from "../../transport/failure.ts";
import type { Judging } from "../judge/judge.ts";
import type { Slots } from "../send/slots.ts";

/** Judges the requests of a mix, each by the rules of its member. */
export class MixedJudge implements Judging {
  readonly needsBodies: boolean;
  readonly canWait: boolean;
  private readonly judges: readonly Judging[];

  /** @param judges one per member */
  constructor(judges: readonly Judging[]) {
    this.judges = judges;
    this.needsBodies = judges.some(({ needsBodies }) => needsBodies);
    this.canWait = this.needsBodies && judges.every(({ canWait, needsBodies }) => canWait || !needsBodies);
  }

  judge(call: Call, slots: Slots): Failure | undefined {
    return (this.judges[call.member] as Judging).judge(call, slots);
  }
}
