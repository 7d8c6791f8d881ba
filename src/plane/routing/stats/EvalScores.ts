/** Results of models in evaluations, in memory for strategies. Read from the store at start and after every run. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../../kernel/Lane.ts"
import type { EvalScore } from "../../../subjects/evals/entity.ts"
import type { StoreError } from "../../../store/Errors.ts"
import { Snapshots } from "../../../store/Snapshots.ts"
import { EvalRepo } from "../../../subjects/evals/repo.ts"

const none: ReadonlyArray<EvalScore> = []

const keyOf = (provider: string, model: string): string => `${provider}/${model}`

export class EvalScores extends Context.Tag("gateway/plane/routing/stats/EvalScores")<
  EvalScores,
  {
    /** Hot: finds the scores, at most one of each suite. */
    readonly of: (provider: string, model: string) => ReadonlyArray<EvalScore>
    readonly refresh: Effect.Effect<void, StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const repo = yield* EvalRepo
  let byModel: ReadonlyMap<string, ReadonlyArray<EvalScore>> = new Map()

  // One after the other: what was read before a run's end would be put in force after it.
  const refresh = Effect.map(repo.scores, (scores) => {
    const found = new Map<string, Array<EvalScore>>()
    for (const score of scores) {
      const key = keyOf(score.provider, score.model)
      const known = found.get(key)
      if (known === undefined) found.set(key, [score])
      else known.push(score)
    }
    byModel = found
  }).pipe(makeLane(1).inTurn)
  yield* refresh
  yield* (yield* Snapshots).register(["eval_runs"], () => refresh)
  return EvalScores.of({ of: (provider, model) => byModel.get(keyOf(provider, model)) ?? none, refresh })
})

export const layer: Layer.Layer<EvalScores, StoreError, EvalRepo> = Layer.effect(EvalScores, make)
