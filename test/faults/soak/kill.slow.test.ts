/** `kill -9` under load: an account that is used up, banned or told to wait is not asked again after the restart. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import type { Fault } from "../wall/Fault.ts"
import { account, ended } from "../wall/Fault.ts"
import { accounts } from "../wall/faults/statuses.ts"
import { addFault, furnish, type Furnished, type House, manage, restart, start } from "./House.ts"
import { type Offer, run } from "./Load.ts"

const hour = 3_600_000

const longCooling: Fault = {
  name: "429-an-hour",
  does: ({ wire }) =>
    Fake.json(Fake.errorBody(wire, "Slow down.", { type: "rate_limit_error" }), {
      status: 429,
      headers: { "retry-after": "3600" }
    }),
  whole: account(429, ended("banned")),
  stream: null
}

const faults = [...accounts.filter(({ name }) => name === "402" || name === "403-banned"), longCooling]

const asked = ({ provider }: House, { node }: Furnished): number =>
  provider.fake.requests.filter(({ url }) => url.startsWith(`/${node}/`)).length

interface Account {
  readonly testStatus: string
  readonly rateLimitedUntil: string | null
}

const stateOf = async ({ program }: House, { connectionId }: Furnished): Promise<Account> => {
  const { connection } = await manage(program.url, "GET", `/api/providers/${connectionId}`)
  return { testStatus: connection.testStatus, rateLimitedUntil: connection.rateLimitedUntil }
}

describe("kill -9", () => {
  it.scopedLive(
    "exhausted, banned and long-cooling accounts stay out",
    () =>
      Effect.gen(function* () {
        const house = yield* start(faults)
        const furnished: Array<Furnished> = []
        let well: ReadonlyArray<Offer> = []
        yield* Effect.promise(async () => {
          well = await furnish(house, ["chat"])
          for (const fault of faults) furnished.push(await addFault(house, fault, "chat"))
          const enough = Fake.makeLatch()
          let isOver = false
          const load = run({
            url: house.program.url,
            offers: [...well, ...furnished.map(({ pair }) => pair)],
            clients: 20,
            goesOn: () => !isOver,
            // Every bad account was asked, and what became of it was told: from here on it must not be forgotten.
            progress: () => void (furnished.every((one) => asked(house, one) > 0) && enough.open())
          })
          await enough.opened
          const ask = (model: string): Promise<Response> =>
            fetch(`${house.program.url}/v1/chat/completions`, {
              method: "POST",
              body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] })
            })
          for (const { pair } of furnished) await (await ask(pair.model)).text()
          house.program.signal("SIGKILL")
          isOver = true
          await house.program.ended
          await load
        })
        const before = furnished.map((one) => asked(house, one))
        const again = yield* restart(house)
        yield* Effect.promise(async () => {
          const states = await Promise.all(furnished.map((one) => stateOf(again, one)))
          assert.deepStrictEqual(
            states.map(({ testStatus }) => testStatus),
            ["credits_exhausted", "banned", "unavailable"]
          )
          const until = Date.parse(states[2]?.rateLimitedUntil ?? "")
          assert.isAbove(until, Date.now() + hour / 2)
          const served = await run({
            url: again.program.url,
            offers: furnished.flatMap(({ alone, pair }) => [alone, pair]),
            clients: 20,
            goesOn: (begun) => begun < 300,
            progress: () => {}
          })
          assert.isEmpty(served.filter(({ isUntrue }) => isUntrue))
          assert.isNotEmpty(served.filter(({ outcome }) => outcome === "answered"))
          assert.deepStrictEqual(
            furnished.map((one) => asked(house, one)),
            before,
            "calls to accounts that are out"
          )
        })
      }),
    { timeout: 120_000 }
  )
})
