/** A restart of the gateway with tunnels open: they are closed with what served before, and opened again by what serves next. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually } from "../../support/eventually.ts"
import * as Program from "../../support/Program.ts"
import * as RawRequest from "../../support/RawRequest.ts"
import { adminKey, type BackendName, backends, manage, type Outside, phase } from "../../support/tunnels/Backends.ts"
import { whyNoSshd } from "../../support/tunnels/SshServer.ts"

const admin = { authorization: `Bearer ${adminKey}` }
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
        yield* Effect.promise(async () => {
          const all: Array<Outside> = []
          for (const backend of three) {
            // A port of the server that stays the same.
            const { json } = await behind.open(program, backend)
            assert.strictEqual(json.phase, "running", JSON.stringify(json))
            all.push(await behind.outside(backend, json.publicUrl))
          }
          const seen = new Map<BackendName, Set<string>>(three.map((backend) => [backend, new Set()]))
          let isOver = false
          const clients = all.map(async (outside) => {
            while (!isOver) seen.get(outside.backend)?.add(await asked(outside))
          })
          const carrier = behind.cloudflared.seen()?.pid
          behind.cloudflared.nameHost("second-name-after-restart.trycloudflare.com")
          assert.strictEqual((await manage(program, "POST", "/api/restart")).status, 202)
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
          isOver = true
          await Promise.all(clients)
          console.log(seen)
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
