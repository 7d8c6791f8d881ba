/** A gateway that is stopped while a plugin is asked: no request waits for the plugin, and none gets past one without which none may pass. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { installPlugin } from "../../support/RealPlugins.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const answering: Fake.Answer = (response, request) =>
  JSON.parse(request.body).stream === true
    ? Fake.sse(Fake.chatStream(["Hello", " there"]))(response, request)
    : Fake.json(Fake.chatCompletion({ text: "Hello there" }))(response, request)

interface Case {
  readonly hook: "onRequest" | "onResponse"
  readonly failClosed: boolean
  readonly stream: boolean
}

/** What a client gets of a request that was waiting for the plugin when the gateway stopped. */
const stoppedWhile = ({ failClosed, hook, stream }: Case) =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    const scope = yield* Scope.make()
    const gateway = yield* Scope.extend(TestGateway.start({ dataDir, drainMs: 0 }), scope)
    const upstream = yield* Fake.start
    upstream.always(answering)
    const asked = yield* Effect.promise(async () => {
      await gateway.connect("up", upstream, "chat")
      await installPlugin(gateway, "slow", {
        manifest: {
          hooks: { [hook]: hook === "onResponse" ? { stream: "buffer" } : true },
          requires: { permissions: ["file-write"] },
          failClosed,
          timeoutMs: 10_000
        },
        members: `${hook}: async () => {
          await fs.writeFile("begun", "")
          await new Promise((resolve) => setTimeout(resolve, 9_500))
        }`,
        grant: ["file-write"]
      })
      const messages = [{ role: "user", content: "Hi" }]
      const response = gateway.post("/v1/chat/completions", { model: "up/m", messages, stream })
      const text = response.then(async (found) => ({ status: found.status, text: await found.text() }))
      const begun = join(dataDir, "plugin-data", "slow", "begun")
      await eventually("the plugin is asked", () => existsSync(begun), Boolean)
      // In an object, so that it is not waited for here.
      return { text }
    })
    yield* Scope.close(scope, Exit.void)
    return { ...(yield* Effect.promise(() => asked.text)), calls: upstream.requests.length }
  })

describe("a gateway that stops while a plugin is asked", () => {
  for (const stream of [false, true]) {
    const kind = stream ? "a stream that is held back" : "a whole answer"

    it.scopedLive(`about ${kind}: the original goes out`, () =>
      Effect.gen(function* () {
        const { status, text } = yield* stoppedWhile({ hook: "onResponse", failClosed: false, stream })
        assert.strictEqual(status, 200, text)
        assert.include(text, "Hello")
        if (stream) assert.include(text, "data: [DONE]")
      })
    )

    it.scopedLive(`about ${kind} that none may pass unseen: it is refused`, () =>
      Effect.gen(function* () {
        const { status, text } = yield* stoppedWhile({ hook: "onResponse", failClosed: true, stream })
        assert.strictEqual(status, 503, text)
        assert.notInclude(text, "Hello")
        assert.match(text, /plugin_failed|server_shutting_down/)
      })
    )
  }

  for (const failClosed of [false, true]) {
    it.scopedLive(`about a request${failClosed ? " that none may pass unseen" : ""}: no provider is called`, () =>
      Effect.gen(function* () {
        const { calls, status, text } = yield* stoppedWhile({ hook: "onRequest", failClosed, stream: false })
        assert.strictEqual(status, 503, text)
        assert.include(text, "server_shutting_down")
        assert.strictEqual(calls, 0)
      })
    )
  }
})
