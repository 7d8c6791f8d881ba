/** A restart of the gateway with tunnels open: they are closed with what served before, and opened again by what serves next. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { request } from "node:http"
import { setTimeout as delay } from "node:timers/promises"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"
import * as RawRequest from "../../support/RawRequest.ts"
import {
  adminKey,
  type BackendName,
  backends,
  connectUpstream,
  manage,
  type Outside,
  phase
} from "../../support/tunnels/Backends.ts"
import { whyNoSshd } from "../../support/tunnels/SshServer.ts"

const admin = { authorization: `Bearer ${adminKey}` }
interface Streamed {
  readonly backend: BackendName
  readonly text: () => string
  readonly ended: Promise<unknown>
}

const streamed = ({ backend, publicHost, url }: Outside) =>
  new Promise<Streamed>((resolve, reject) => {
    const headers = { ...admin, "content-type": "application/json", host: publicHost }
    const body = JSON.stringify({ model: "up/m", stream: true, messages: [{ role: "user", content: "Hi" }] })
    const { hostname, port } = new URL(url)
    request({ hostname, port, method: "POST", path: "/v1/chat/completions", headers }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece))
      resolve({ backend, text: () => text, ended: new Promise((done) => response.on("close", done)) })
    })
      .on("error", reject)
      .end(body)
  })

const why = whyNoSshd()
const three: ReadonlyArray<BackendName> = why === null ? ["quick", "token", "ssh"] : ["quick", "token"]

/** Its answer in short; a connection that ended without one is `cut`. */
const asked = ({ publicHost, url }: Outside): Promise<string> =>
  RawRequest.ask(url, {
    method: "GET",
    path: "/v1/models",
    headers: { ...admin, host: publicHost, connection: "close" }
  }).then(
    ({ status }) => String(status),
    () => "cut"
  )

describe("POST /api/restart", () => {
  it.scopedLive(
    `opens the tunnels again (${three.join(", ")}), and each request through them has an answer or a clear end`,
    () =>
      Effect.gen(function* () {
        const behind = yield* backends()
        const program = yield* Program.start({ ...behind.environment, REQUIRE_API_KEY: "true" })
        const upstream = yield* Fake.start
        yield* Effect.promise(async () => {
          await connectUpstream(program, upstream.origin)
          const all: Array<Outside> = []
          for (const backend of three) {
            const { json } = await behind.open(program, backend)
            assert.strictEqual(json.phase, "running", JSON.stringify(json))
            all.push(await behind.outside(backend, json.publicUrl))
          }
          const seen = new Map<BackendName, Set<string>>(three.map((backend) => [backend, new Set()]))
          const over = new AbortController()
          const clients = all.map(async (outside) => {
            while (!over.signal.aborted) seen.get(outside.backend)?.add(await asked(outside))
          })
          await eventually(
            "a first answer through each",
            () => [...seen.values()].every((answers) => answers.has("200")),
            Boolean
          )
          const gate = Fake.makeLatch()
          const streams: Array<Streamed> = []
          // Quick tunnels are said to hold streams back.
          for (const outside of all.filter(({ backend }) => backend !== "quick")) {
            const [head = "", ...rest] = Fake.chatStream(["first word", " last word"])
            upstream.enqueue(Fake.sse([head, rest[0] ?? "", gate, ...rest.slice(1)]))
            const answer = await streamed(outside)
            await eventually("the first event", answer.text, (text) => text.includes("first word"))
            streams.push(answer)
          }
          const carrier = behind.cloudflared.seen()?.pid
          behind.cloudflared.nameHost("second-name-after-restart.trycloudflare.com")
          assert.strictEqual((await manage(program, "POST", "/api/restart")).status, 202)
          // Answers that have begun are sent to their end before anything is closed; the answer to this waits for the next generation.
          let held = Promise.resolve(0)
          await eventually(
            "a request that waits",
            () => {
              held = fetch(`${program.url}/v1/models`, { headers: admin }).then(({ status }) => status)
              return Promise.race([held.then(() => false), delay(250).then(() => true)])
            },
            Boolean
          )
          gate.open()
          for (const { backend, ended, text } of streams) {
            await ended
            assert.match(text(), /last word[\s\S]*\[DONE\]/, backend)
          }
          assert.strictEqual(await held, 200)
          await eventually("the restart", program.stderr, (text) => text.includes("The gateway has restarted."), {
            withinMs: 30_000
          })
          for (const backend of three) {
            const { publicUrl } = await phase(program, backend, "running")
            if (backend === "quick")
              assert.strictEqual(publicUrl, "https://second-name-after-restart.trycloudflare.com")
            const outside = await behind.outside(backend, publicUrl)
            assert.strictEqual(await asked(outside), "200", backend)
          }
          assert.notStrictEqual(behind.cloudflared.seen()?.pid, carrier)
          over.abort()
          await Promise.all(clients)
          for (const [backend, answers] of seen) {
            assert.isTrue(answers.has("200"), backend)
            for (const answer of answers) assert.oneOf(answer, ["200", "502", "503", "404", "cut"], backend)
          }
        })
        const { code, stderr } = yield* program.stop
        assert.strictEqual(code, 0)
        assert.notMatch(stderr, /"level":"(?:error|fatal)"/)
      }),
    60_000
  )
})
