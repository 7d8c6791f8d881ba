/** The repositories over SQLite and over Postgres: the same calls, the same answers. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { configuration } from "../../../support/laws/Configuration.ts"
import { history, sameOverBoth } from "../../../support/laws/Histories.ts"
import { others, usageSeries } from "../../../support/laws/Others.ts"
import { records } from "../../../support/laws/Records.ts"
import { usage } from "../../../support/laws/Usage.ts"
import { noPostgres, postgresUrl } from "../../../support/postgres/Server.ts"
import { counted } from "../../../support/slowRun.ts"

const url = await postgresUrl()
/** `HISTORIES=40` takes more of them in `npm run test:slow`. */
const seeds = Array.from({ length: counted(2, Number(process.env["HISTORIES"] ?? 15)) }, (_, n) => n + 1)

describe.skipIf(url === null)(`the same history over both engines${url === null ? noPostgres : ""}`, () => {
  for (const seed of seeds) {
    it.live(
      `has the same answers of the configuration (history ${seed})`,
      () =>
        Effect.gen(function* () {
          const answers = yield* sameOverBoth(url ?? "", seed, history(seed, 400, configuration))
          assert.isAbove(answers.filter((answer) => Array.isArray(answer) && answer.length > 0).length, 20)
        }),
      60_000
    )

    it.live(
      `has the same answers of usage (history ${seed})`,
      () => sameOverBoth(url ?? "", seed, history(seed, 300, [...usage, ...usageSeries])),
      60_000
    )

    it.live(
      `has the same answers of records (history ${seed})`,
      () => sameOverBoth(url ?? "", seed, history(seed, 400, [...records, ...others])),
      60_000
    )
  }
})
