/** Pairs of questions, to measure how well vectors of a model distinguish the same question from a similar one (`gateway cache measure`, `docs/cache.md`). */
import * as Schema from "effect/Schema"
import { decodeData } from "../../../kernel/DataFile.ts"
import paraphrases from "./paraphrases.yaml"

/** Topics of questions that are easily taken for each other; a question is a list of its wordings. */
const Topics = Schema.Array(Schema.Array(Schema.Array(Schema.String)))

export const { laterTopics, topics } = decodeData(Schema.Struct({ topics: Topics, laterTopics: Topics }))(paraphrases)

export interface Pair {
  readonly one: string
  readonly other: string
  /** True when they are wordings of one question. */
  readonly isSame: boolean
}

const pairsIn = <A>(items: ReadonlyArray<A>): ReadonlyArray<readonly [A, A]> =>
  items.flatMap((one, at) => items.slice(at + 1).map((other) => [one, other] as const))

/** All wordings of each question with each other, and with all those of the other questions of its topic. */
export const pairsOf = (from: typeof Topics.Type): ReadonlyArray<Pair> =>
  from.flatMap((questions) => [
    ...questions.flatMap((wordings) => pairsIn(wordings).map(([one, other]) => ({ one, other, isSame: true }))),
    ...pairsIn(questions).flatMap(([these, those]) =>
      these.flatMap((one) => those.map((other) => ({ one, other, isSame: false })))
    )
  ])
