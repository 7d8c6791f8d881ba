/** Brings the files of a folder up to their pages, and keeps what people wrote into them. */
import * as Effect from "effect/Effect"
import type { SkillId } from "../../subjects/skills/entity.ts"
import { describeStoreFailure } from "../../store/Errors.ts"
import { withCustom } from "./CustomBlock.ts"
import * as SkillFiles from "./SkillFiles.ts"

export interface Renewal {
  readonly folder: string
  readonly ids: ReadonlyArray<SkillId>
  readonly pageOf: (id: SkillId) => Effect.Effect<string>
  readonly dryRun: boolean
  /** Removes folders in the place of skills that are no skills. */
  readonly prune: boolean
}

/** Outcome of each file, by id. */
export interface RenewalReport {
  readonly generated: ReadonlyArray<string>
  readonly unchanged: ReadonlyArray<string>
  readonly pruned: ReadonlyArray<string>
  readonly orphansDetected: ReadonlyArray<string>
  readonly errors: ReadonlyArray<{ readonly id: string; readonly message: string }>
}

const renewOne = Effect.fnUntraced(function* ({ dryRun, folder, pageOf }: Renewal, id: SkillId) {
  const former = yield* SkillFiles.read(folder, id)
  const page = yield* pageOf(id)
  const text = former === null ? page : withCustom(page, former)
  if (text === former) return "unchanged" as const
  if (!dryRun) yield* SkillFiles.write(folder, id, text)
  return "generated" as const
})

export const renew = Effect.fn("skills.renew")(function* (renewal: Renewal) {
  const { dryRun, folder, ids, prune } = renewal
  const report = { generated: [] as Array<string>, unchanged: [] as Array<string>, pruned: [] as Array<string> }
  const errors: Array<{ readonly id: string; readonly message: string }> = []
  for (const id of ids) {
    const done = yield* Effect.either(renewOne(renewal, id))
    if (done._tag === "Left") errors.push({ id, message: describeStoreFailure(done.left) })
    else report[done.right].push(id)
  }
  const orphansDetected = yield* Effect.catchAll(SkillFiles.orphans(folder), () => Effect.succeed([]))
  for (const name of prune ? orphansDetected : []) {
    const done = yield* Effect.either(dryRun ? Effect.void : SkillFiles.remove(folder, name))
    if (done._tag === "Left") errors.push({ id: name, message: describeStoreFailure(done.left) })
    else report.pruned.push(name)
  }
  return { ...report, orphansDetected, errors } satisfies RenewalReport
})
