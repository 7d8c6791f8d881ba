/** `gateway chat` as people and scripts use it: pipes, terminals, Ctrl-C, and answers that do not end well. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Fake from "../support/FakeUpstream.ts"
import * as Terminal from "../support/Terminal.ts"
import * as Gateway from "../support/TestGateway.ts"
import { type Ended, fed as feed, program } from "./support.ts"
import { launch } from "./built.ts"

const { dataDir, main, run, serve, start } = program()

const price = { up: { m: { input: 1, output: 10 } } }

const setUp = Effect.gen(function* () {
  const upstream = yield* Fake.start
  const gateway = yield* Gateway.start()
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  yield* Effect.promise(() => gateway.manage("PATCH", "/api/pricing", price))
  const folder = dataDir()
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    DATA_DIR: folder,
    GATEWAY_URL: gateway.url,
    GATEWAY_ADMIN_KEY: Gateway.adminKey,
    GATEWAY_MODEL: "up/m"
  }
  const fed = async (input: string | Buffer | null, ...words: ReadonlyArray<string>): Promise<Ended> => {
    const ended = await feed(main, ["chat", ...words], env, input, folder)
    return { ...ended, stdout: ended.stdout.toString() }
  }
  const chat = (...words: ReadonlyArray<string>) => fed("", ...words)
  const terminal = (...words: ReadonlyArray<string>) =>
    Terminal.open([...launch, "chat", ...words], { cwd: folder, env, columns: 100, rows: 30 })
  const sent = (index: number) => JSON.parse(upstream.requests[index]?.body ?? "{}")
  return { upstream, gateway, folder, env, fed, chat, terminal, sent }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, test: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => test(room))), 60_000)
}

const answering = (...texts: ReadonlyArray<string>): Fake.Answer =>
  Fake.sse(Fake.chatStream(texts, { usage: { in: 20, out: 100 } }))

describe("in a pipe", () => {
  scenario("prints the answer alone, safe for a terminal, and nothing on stderr", async ({ chat, sent, upstream }) => {
    upstream.always(answering("Hello ", "\u001b[31m", "there\u0007."))
    const ended = await chat("-s", "Be brief.", "Say", "hello")
    assert.deepStrictEqual(ended, { code: 0, stdout: "Hello ?[31mthere?.\n", stderr: "" })
    assert.deepInclude(sent(0), { model: "m", stream: true })
    assert.deepStrictEqual(sent(0).messages, [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Say hello" }
    ])
  })

  scenario("with --json, prints one object with text, usage, cost and the request's id", async (room) => {
    room.upstream.always(answering("Hel", "lo\u001b"))
    const { code, stderr, stdout } = await room.chat("--json", "-m", "up/m", "Hi")
    assert.deepStrictEqual([code, stderr], [0, ""])
    const result = JSON.parse(stdout)
    assert.notInclude(stdout, "\u001b")
    assert.deepInclude(result, { text: "Hello\u001b", provider: "up", model: "m", finishReason: "stop", error: null })
    assert.deepInclude(result.usage, { prompt_tokens: 20, completion_tokens: 100 })
    assert.strictEqual(result.costUsd, 0.00102)
    assert.strictEqual((await room.gateway.usageRow(result.requestId)).costUsd, 0.00102)
  })

  scenario("asks what is piped in, or puts it below the question", async ({ chat, fed, folder, sent, upstream }) => {
    upstream.always(answering("ok"))
    assert.strictEqual((await fed("What is @this?\n")).code, 0)
    assert.strictEqual(sent(0).messages[0].content, "What is @this?")
    assert.strictEqual((await fed("one\ntwo\n", "Count", "the lines")).code, 0)
    assert.strictEqual(
      sent(1).messages[0].content,
      'Count the lines\n\n<file name="standard input">\none\ntwo\n</file>'
    )
    const png = Buffer.from("\u0089PNG\r\n\u001a\nrest", "latin1")
    writeFileSync(join(folder, "p.png"), png)
    writeFileSync(join(folder, "n.txt"), "a note")
    assert.strictEqual((await chat("What is in", "@p.png", "and in @n.txt?")).code, 0)
    assert.deepStrictEqual(sent(2).messages[0].content, [
      { type: "text", text: 'What is in and in n.txt?\n\n<file name="n.txt">\na note\n</file>' },
      { type: "image_url", image_url: { url: `data:image/png;base64,${png.toString("base64")}` } }
    ])
    assert.strictEqual((await chat("@n.txt in short")).code, 0)
    assert.strictEqual(sent(3).messages[0].content, 'n.txt in short\n\n<file name="n.txt">\na note\n</file>')
    writeFileSync(join(folder, "two words.txt"), "a note")
    assert.strictEqual((await chat("Read", "@two words.txt")).code, 0)
    assert.strictEqual(sent(4).messages[0].content, 'Read\n\n<file name="two words.txt">\na note\n</file>')
  })

  scenario("waits for a pipe of a program no longer than a moment, and says so", async ({ fed, sent, upstream }) => {
    upstream.always(answering("ok"))
    const ended = await fed(null, "Hi")
    assert.deepStrictEqual([ended.code, ended.stdout], [0, "ok\n"])
    assert.include(ended.stderr, "standard input within 3 seconds")
    assert.strictEqual(sent(0).messages[0].content, "Hi")
  })

  scenario("refuses what cannot be sent, before anything is asked", async ({ chat, fed, folder, upstream }) => {
    writeFileSync(join(folder, "b.bin"), Buffer.from([1, 0, 2]))
    writeFileSync(join(folder, "big.txt"), Buffer.alloc(21 * 1_048_576, "x"))
    for (const [words, message] of [
      [["Read", "@b.bin"], "neither text"],
      [["Read @big.txt"], "larger than 20.0 MiB"],
      [["Read", "@none.txt"], "cannot be read"],
      [[], "nothing to ask"]
    ] as const) {
      const { code, stderr, stdout } = await chat(...words)
      assert.deepStrictEqual([code, stdout], [2, ""], stderr)
      assert.include(stderr, message)
    }
    assert.strictEqual((await fed(Buffer.from([0, 1]), "Read this")).code, 2)
    assert.lengthOf(upstream.requests, 0)
    upstream.always(answering("ok"))
    const typed = await chat("Mail me at @none.txt")
    assert.deepStrictEqual([typed.code, typed.stdout], [0, "ok\n"])
    assert.include(typed.stderr, "no file 'none.txt'")
  })
})

describe("an answer that does not end well", () => {
  const begun = Fake.chatStream(["Hel", "lo"]).slice(0, 3)
  scenario("exits with 1 and the reason behind what had come", async ({ chat, gateway, upstream }) => {
    // Three failures in a row must not hold the provider back here.
    await gateway.manage("PATCH", "/api/resilience", {
      providerBreaker: { local: { degradationThreshold: 50, failureThreshold: 100 } },
      connectionCooldown: { apikey: { baseCooldownMs: 100 } }
    })
    for (const [answer, reason] of [
      [Fake.cutOff(begun), /ended before it was complete|broke off/],
      [Fake.sse([...begun, 'data: {"error":{"message":"it broke","type":"server_error"}}\n\n']), /it broke/],
      [
        Fake.sse([
          ...begun,
          'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"refusal":"I will not"},"finish_reason":"stop"}]}\n\n',
          "data: [DONE]\n\n"
        ]),
        /refused to answer: I will not/
      ]
    ] as const) {
      upstream.always(answer)
      const { code, stderr, stdout } = await chat("Hi")
      assert.deepStrictEqual([code, stdout], [1, "Hello\n"], stderr)
      assert.match(stderr, reason)
      assert.match(stderr, /gateway route decision [\da-f-]{36}/)
    }
    const json = await chat("--json", "Hi")
    assert.strictEqual(json.code, 1)
    assert.match(JSON.parse(json.stdout).error, /I will not/)
  })

  scenario("exits by the kind of refusal", async ({ chat, upstream }) => {
    upstream.always(Fake.json({ error: { message: "it broke" } }, { status: 500 }))
    const failed = await chat("Hi")
    assert.deepStrictEqual([failed.code, failed.stdout], [1, ""])
    assert.include(failed.stderr, "it broke")
    assert.strictEqual((await chat("-m", "no/such", "Hi")).code, 2)
    assert.strictEqual((await chat("--url", "http://127.0.0.1:9", "Hi")).code, 3)
  })
})

describe("Ctrl-C", () => {
  scenario("stops a question that was asked once, at the provider too", async ({ env, upstream }) => {
    upstream.always(Fake.sse([...Fake.chatStream(["Once upon"]).slice(0, 2), Fake.makeLatch()]))
    const child = start(["chat", "Tell", "a", "story"], env)
    const ended = once(child, "exit")
    const [shown] = await once(child.stdout!, "data")
    assert.strictEqual(String(shown), "Once upon")
    const asked = await upstream.received(1)
    child.kill("SIGINT")
    assert.strictEqual((await ended)[0], 130)
    await asked.closed
  })
})

describe("on a terminal", () => {
  it.scopedLive(
    "turns a spinner until the first token, then shows the text as it comes and what it took",
    () =>
      Effect.gen(function* () {
        const { terminal, upstream } = yield* setUp
        const [first, second] = [Fake.makeLatch(), Fake.makeLatch()]
        const [role = "", one = "", ...rest] = Fake.chatStream(["Hello ", "there."], { usage: { in: 20, out: 100 } })
        upstream.always(Fake.sse([role, first, one, second, ...rest]))
        const { ended, screen, shows } = yield* terminal("Hi")
        yield* shows(/⠙ Waiting for an answer/)
        first.open()
        const begun = yield* shows(/Hello/)
        assert.notInclude(begun, "Waiting")
        assert.notInclude(begun, "there")
        second.open()
        assert.strictEqual(yield* ended, 0)
        assert.match(screen(), /^Hello there\.\n20 in, 100 out · (?:[\d.]+ tokens\/s · )?0\.00102 USD · up\/m$/)
      }),
    60_000
  )

  it.scopedLive(
    "is a conversation that Ctrl-C stops and leaves",
    () =>
      Effect.gen(function* () {
        const { folder, sent, terminal, upstream } = yield* setUp
        const never = Fake.makeLatch()
        upstream.enqueue(
          answering("Fine."),
          Fake.sse([...Fake.chatStream(["Once upon"]).slice(0, 2), never]),
          answering("Yes.")
        )
        const { ended, screen, showsFrom, shows, type } = yield* terminal()
        const after = (pattern: RegExp) => {
          const from = screen().length
          return (typed: string) => {
            type(typed)
            return showsFrom(from, pattern)
          }
        }
        yield* shows(/You talk to up\/m[^]*›/)
        yield* after(/Fine\.\n20 in[^]*›/)("How are you?\r")
        yield* after(/Once upon$/)("Tell a story\r")
        const story = yield* Effect.promise(() => upstream.received(2))
        yield* after(/Stopped\.\n›/)("\u0003")
        yield* Effect.promise(() => story.closed)
        yield* after(/Yes\.[^]*›/)("And \\\rnow?\r")
        assert.deepStrictEqual(
          sent(2).messages.map(({ content }: { readonly content: string }) => content),
          ["How are you?", "Fine.", "Tell a story", "Once upon", "And \nnow?"]
        )
        yield* after(/is in talk\.md[^]*›/)(`/save talk.md\r`)
        yield* after(/there already[^]*›/)(`/save ${join(folder, "talk.md")}\r`)
        yield* after(/again leaves[^]*›/)("\u0003")
        type("\u0003")
        assert.strictEqual(yield* ended, 130)
      }),
    60_000
  )

  it.scopedLive(
    "takes a pasted text as one question, and ends with Ctrl-D",
    () =>
      Effect.gen(function* () {
        const { sent, terminal, upstream } = yield* setUp
        upstream.always(answering("ok"))
        const { ended, shows, type } = yield* terminal()
        yield* shows(/›/)
        type("\u001b[200~one\rtwo\r\u001b[201~three\r")
        yield* shows(/ok\n20 in[^]*›/)
        assert.strictEqual(sent(0).messages[0].content, "one\ntwo\nthree")
        type("\u0004")
        assert.strictEqual(yield* ended, 0)
      }),
    60_000
  )
})

describe("after a start and one connection", () => {
  it.scopedLive(
    "answers whoever runs the gateway without a key and without a model's name, also where keys are required",
    () =>
      Effect.gen(function* () {
        const upstream = yield* Fake.start
        upstream.lists(Fake.json(Fake.models(["gpt-4o"])))
        upstream.always(answering("Hello."))
        yield* Effect.promise(async () => {
          const DATA_DIR = dataDir()
          const server = await serve({ DATA_DIR, REQUIRE_API_KEY: "true", GATEWAY_ENV_CONNECTIONS: "false" })
          const baseUrl = `${upstream.origin}/v1`
          const key = ["--api-key-env", "KEY", "--no-verify"]
          const added = await run(["provider", "add", "openai", "--base-url", baseUrl, ...key], {
            DATA_DIR,
            KEY: "sk-0123456789"
          })
          assert.strictEqual(added.code, 0, added.stderr)
          const answered = await run(["chat", "hello"], { DATA_DIR })
          assert.deepStrictEqual(answered, { code: 0, stdout: "Hello.\n", stderr: "" })
          const wrong = await run(["chat", "hello", "--gateway-key", "gw_wrong"], { DATA_DIR })
          assert.deepStrictEqual([wrong.code, wrong.stdout], [4, ""], wrong.stderr)
          await server.stop("SIGTERM")
        })
      }),
    60_000
  )
})
