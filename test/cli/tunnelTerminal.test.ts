/** `gateway tunnel` on a terminal, with the built program, an edge of ngrok and a server of SSH. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Program from "../support/Program.ts"
import * as Terminal from "../support/Terminal.ts"
import { adminKey, authToken, backends, manage } from "../support/tunnels/Backends.ts"
import { whyNoSshd } from "../support/tunnels/SshServer.ts"
import { program, project } from "./support.ts"
import { launch } from "./built.ts"

const patienceMs = 60_000
program()
const why = whyNoSshd()

const started = Effect.gen(function* () {
  const behind = yield* backends()
  const gateway = yield* Program.start({ ...behind.environment, REQUIRE_API_KEY: "true" })
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: gateway.dataDir,
    DATA_DIR: gateway.dataDir,
    GATEWAY_URL: gateway.url,
    GATEWAY_ADMIN_KEY: adminKey
  }
  const open = (...words: ReadonlyArray<string>) =>
    Terminal.open([...launch, "tunnel", ...words], { cwd: project, env, columns: 160, rows: 40 })
  return { behind, gateway, open }
})

describe("gateway tunnel on a terminal", () => {
  it.scopedLive(
    "asks for the authtoken without showing it, and follows the tunnel until it is stopped",
    () =>
      Effect.gen(function* () {
        const { behind, gateway, open } = yield* started
        const create = yield* open("create", "token")
        yield* create.shows(/Authtoken of the tunnel's service[^\n]*$/)
        create.type(`${authToken}\r`)
        assert.strictEqual(yield* create.ended, 0, create.screen())
        assert.include(create.screen(), "https://gateway-test.ngrok-free.app/v1")
        assert.notInclude(create.screen(), authToken)
        assert.deepStrictEqual(behind.edge.tokens, [authToken])

        const watching = yield* open("status", "token", "--watch")
        yield* watching.shows(/running[\s\S]*1 of 1 open/)
        yield* Effect.promise(() => manage(gateway, "POST", "/api/tunnels/token", { action: "disable" }))
        assert.strictEqual(yield* watching.ended, 0)
        assert.match(watching.screen(), /running[\s\S]*stopped/)
      }),
    patienceMs
  )

  it.scopedLive.skipIf(why !== null)(
    `shows the fingerprint of a server at the first contact, and asks${why === null ? "" : ` (skipped: ${why})`}`,
    () =>
      Effect.gen(function* () {
        const { behind, open } = yield* started
        if (behind.ssh === null) return
        const { authorize, fingerprint, port, user } = behind.ssh
        const destination = `${user}@127.0.0.1:${port}`
        const question = new RegExp(`Is ${fingerprint.replaceAll("+", "\\+")} the key of your server\\?[^\\n]*$`)

        const doubtful = yield* open("create", "ssh", destination)
        yield* doubtful.shows(question)
        doubtful.type("n")
        assert.notStrictEqual(yield* doubtful.ended, 0)

        const first = yield* open("create", "ssh", destination)
        yield* first.shows(question)
        first.type("y")
        assert.strictEqual(yield* first.ended, 1, first.screen())
        // The key that the server has to let in.
        const line = /ssh-ed25519 \S+ gateway-tunnel/.exec(first.screen())?.[0] ?? ""
        authorize(line)

        // The fingerprint is known by now.
        const second = yield* open("create", "ssh", destination)
        assert.strictEqual(yield* second.ended, 0, second.screen())
        assert.match(second.screen(), /http:\/\/127\.0\.0\.1:\d+\/v1/)
        assert.notInclude(second.screen(), "the key of your server?")
      }),
    patienceMs
  )
})
