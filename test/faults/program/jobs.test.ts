/** Films that are being made, and a killed process: each goes on from what the provider has accepted, and is submitted once. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"

const adminKey = "admin-key-of-the-program-tests"
const environment = { GATEWAY_ADMIN_KEY: adminKey, GATEWAY_DRAIN_SECONDS: "1" }

// eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
type Answer = any

const call = async (
  { url }: { readonly url: string },
  method: string,
  path: string,
  body?: unknown
): Promise<Answer> => {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  assert.isTrue(response.ok, `${path}: ${response.status} ${text}`)
  return text === "" ? null : JSON.parse(text)
}

/** A provider in OpenAI's form: the prompt of a job is its id. Jobs go on until they are let go. */
const makeProvider = () => {
  const ends = new Map<string, object>()
  const answer: Fake.Answer = (response, request) => {
    const submitted = request.method === "POST"
    const id: string = submitted ? JSON.parse(request.body).prompt : (request.url.split("/").at(-1) ?? "")
    // The provider has it, and the gateway never hears of that.
    if (submitted && id === "unanswered") return undefined
    const running = { status: submitted ? "queued" : "in_progress", progress: 30 }
    return Fake.json({ id, object: "video", ...(submitted ? running : (ends.get(id) ?? running)) })(response, request)
  }
  return { answer, ends }
}

const submits = ({ requests }: Fake.FakeUpstream): ReadonlyArray<string> =>
  requests.flatMap(({ body, method }) => (method === "POST" ? [JSON.parse(body).prompt] : []))

const film = { data: [{ url: "https://cdn.test/film.mp4" }] }

describe("kill -9 with films under way", () => {
  it.scopedLive(
    "submits none twice, and says of each what became of it",
    () =>
      Effect.gen(function* () {
        const { answer, ends } = makeProvider()
        const [one, two] = [yield* Fake.start, yield* Fake.start]
        one.always(answer)
        two.always(answer)
        const folder = yield* Program.dataFolder
        const program = yield* Program.start(environment, folder)
        const begun = yield* Effect.promise(async () => {
          const connections: Array<string> = []
          for (const [prefix, upstream] of [
            ["one", one],
            ["two", two]
          ] as const) {
            const baseUrl = `${upstream.origin}/v1`
            await call(program, "POST", "/api/provider-nodes", {
              name: prefix,
              prefix,
              type: "openai-compatible",
              baseUrl
            })
            const body = { provider: prefix, apiKey: "k-0123456789", models: ["m"] }
            connections.push((await call(program, "POST", "/api/providers", body)).connection.id)
          }
          await call(program, "PATCH", "/api/pricing", { one: { m: { perSecond: 0.1 } } })
          const targets = [{ model: "one/m" }, { model: "two/m" }]
          await call(program, "POST", "/api/combos", { name: "films", strategy: "priority", targets })
          const begin = async (model: string, prompt: string): Promise<string> =>
            (await call(program, "POST", "/v1/videos", { model, prompt, seconds: "8" })).id
          const ids = {
            goesOn: await begin("one/m", "goes-on"),
            fails: await begin("films", "fails"),
            orphan: await begin("two/m", "orphan"),
            unanswered: await begin("one/m", "unanswered")
          }
          for (const id of [ids.goesOn, ids.fails, ids.orphan]) {
            await eventually(
              "the job is polled",
              () => call(program, "GET", `/v1/videos/${id}`),
              ({ status }) => status === "in_progress"
            )
          }
          await eventually(
            "the last one is sent",
            () => submits(one),
            (all) => all.includes("unanswered")
          )
          await call(program, "DELETE", `/api/providers/${connections[1]}`)
          program.signal("SIGKILL")
          await program.ended
          return ids
        })
        ends.set("goes-on", { status: "completed", seconds: "8", ...film })
        ends.set("fails", { status: "failed", error: { code: "internal_error", message: "The film broke." } })
        const again = yield* Program.start(environment, folder)
        yield* Effect.promise(async () => {
          const over = (id: string): Promise<Answer> =>
            eventually(
              "the job is over",
              () => call(again, "GET", `/v1/videos/${id}`),
              ({ status }) => status === "completed" || status === "failed",
              { withinMs: 30_000 }
            )
          const made = await over(begun.goesOn)
          assert.deepInclude(made, { status: "completed", seconds: "8", data: film.data, error: null })
          const failed = await over(begun.fails)
          assert.strictEqual(failed.status, "failed")
          assert.match(failed.error.message, /The film broke/)
          const orphan = await over(begun.orphan)
          assert.strictEqual(orphan.status, "failed")
          assert.strictEqual(orphan.error.code, "connection_gone")
          assert.match(orphan.error.message, /at two was removed/)
          const lost = await over(begun.unanswered)
          assert.deepInclude(lost, { status: "failed" })
          assert.strictEqual(lost.error.code, "submit_interrupted")
          assert.deepStrictEqual([...submits(one)].sort(), ["fails", "goes-on", "unanswered"])
          assert.deepStrictEqual(submits(two), ["orphan"])
          const { logs } = await call(again, "GET", "/api/usage/logs?limit=100")
          const paid = logs.filter(({ costUsd }: Answer) => costUsd > 0)
          assert.lengthOf(paid, 1)
          assert.strictEqual(paid[0].costUsd, 0.8)
        })
      }),
    120_000
  )
})
