/** `gateway speak`, `embed`, `image`, `transcribe` and `cache measure`: files, pipes, and what is refused. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Fake from "../support/FakeUpstream.ts"
import * as Gateway from "../support/TestGateway.ts"
import { typed } from "../unit/cli/inProcess.ts"
import { fed, program } from "./support.ts"

const { dataDir, main, run } = program()
const patienceMs = 60_000

const models = ["tts-1", "whisper-1", "gpt-image-1", "text-embedding-3-small", "gpt-4o"]

const setUp = Effect.gen(function* () {
  const upstream = yield* Fake.start
  upstream.lists(Fake.json(Fake.models(models)))
  const gateway = yield* Gateway.start()
  yield* Effect.promise(() =>
    gateway.manage("POST", "/api/providers", {
      provider: "openai",
      apiKey: "sk-0123456789",
      baseUrl: `${upstream.origin}/v1`,
      models
    })
  )
  const folder = dataDir()
  const env = {
    DATA_DIR: folder,
    HOME: folder,
    PATH: process.env["PATH"] ?? "",
    GATEWAY_URL: gateway.url,
    GATEWAY_ADMIN_KEY: Gateway.adminKey
  }
  const path = (name: string) => join(folder, name)
  const command = (...words: ReadonlyArray<string>) => run(words, env)
  const sent = (index: number) => JSON.parse(upstream.requests[index]?.body ?? "{}")
  return { upstream, gateway, folder, env, path, command, sent }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, test: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => test(room))), patienceMs)
}

const bytesOf =
  (bytes: Buffer, type: string): Fake.Answer =>
  (response) =>
    void response.writeHead(200, { "content-type": type }).end(bytes)

describe("gateway speak", () => {
  scenario(
    "writes sound to a file, or into a pipe",
    async ({ command, env, folder, gateway, path, sent, upstream }) => {
      const sound = randomBytes(300_000)
      upstream.always(bytesOf(sound, "audio/mpeg"))
      await gateway.manage("PATCH", "/api/pricing", { openai: { "tts-1": { perCharacter: 0.000015 } } })
      const spoken = await command("speak", "Good", "morning", "-o", path("m.wav"), "--voice", "nova", "--json")
      assert.deepStrictEqual([spoken.code, spoken.stderr], [0, ""])
      assert.isTrue(readFileSync(path("m.wav")).equals(sound))
      assert.deepStrictEqual(sent(0), { model: "tts-1", input: "Good morning", voice: "nova", response_format: "wav" })
      const result = JSON.parse(spoken.stdout)
      assert.deepInclude(result, { provider: "openai", model: "tts-1", costUsd: 0.00018 })
      assert.deepStrictEqual(result.files, [{ path: path("m.wav"), bytes: 300_000 }])

      const inPipe = await fed(main, ["speak", "-m", "openai/tts-1"], env, "from a pipe\n")
      assert.strictEqual(inPipe.code, 0, inPipe.stderr)
      assert.isTrue(inPipe.stdout.equals(sound))
      assert.deepInclude(sent(1), { input: "from a pipe", response_format: "mp3" })
      const taken = await command("speak", "x", "-o", path("m.wav"))
      assert.strictEqual(taken.code, 2)
      assert.include(taken.stderr, "there already")
      assert.lengthOf(upstream.requests, 2)
      assert.deepStrictEqual(readdirSync(folder), ["m.wav"])
    }
  )

  scenario("leaves no file of a sound that broke off", async ({ command, folder, path, upstream }) => {
    upstream.always((response) => {
      response.writeHead(200, { "content-type": "audio/mpeg", "content-length": "1000" })
      response.write("begin", () => response.socket?.end())
    })
    const { code, stderr } = await command("speak", "x", "-m", "openai/tts-1", "-o", path("m.mp3"))
    assert.deepStrictEqual([code, readdirSync(folder)], [1, []])
    assert.include(stderr, "broke off")
  })
})

describe("gateway embed", () => {
  scenario("shows the length and the first values, and the whole as JSON", async ({ env, gateway, sent, upstream }) => {
    upstream.always((response, request) => {
      const { input } = JSON.parse(request.body)
      const data = [...input].map((_: string, index: number) => ({
        object: "embedding",
        index,
        embedding: [0.5, -0.25, 0.125, 1]
      }))
      Fake.json({ object: "list", model: "e", data, usage: { prompt_tokens: 4, total_tokens: 4 } })(response, request)
    })
    const shown = (columns: number, ...words: ReadonlyArray<string>) =>
      Effect.runPromise(typed(["embed", ...words, "--url", gateway.url, "--gateway-key", Gateway.adminKey], columns))
    const table = await shown(80, "one", "two\u001b", "--dimensions", "4")
    assert.strictEqual(table.code, 0, table.stderr)
    assert.include(table.stderr, "openai/text-embedding-3-small")
    assert.strictEqual(
      table.stdout,
      [
        "TEXT  DIMENSIONS  VALUES",
        "one            4  0.5000 -0.2500 0.1250 …",
        "two?           4  0.5000 -0.2500 0.1250 …"
      ].join("\n")
    )
    assert.deepInclude(sent(0), { input: ["one", "two\u001b"], dimensions: 4 })
    const narrow = await shown(
      40,
      "a text of many words that has no room on the screen",
      "-m",
      "openai/text-embedding-3-small"
    )
    for (const line of narrow.stdout.split("\n")) assert.isAtMost(line.length, 40)
    const inPipe = await fed(main, ["embed", "--json"], env, "one\n\ntwo\n")
    assert.lengthOf(JSON.parse(String(inPipe.stdout)).data, 2)
    assert.strictEqual((await run(["embed", ""], env)).code, 2)
    const none = await fed(main, ["embed"], env, "\n")
    assert.strictEqual(none.code, 2)
  })
})

const png = Buffer.from("\u0089PNG\r\n\u001a\npicture", "latin1")
const jpeg = Buffer.from("\u00ff\u00d8\u00ffpicture", "latin1")

describe("gateway image", () => {
  it.scopedLive(
    "saves each picture under its name, also those at an address",
    () =>
      Effect.gen(function* () {
        const elsewhere = yield* Fake.start
        elsewhere.always(bytesOf(jpeg, "image/jpeg"))
        const room = yield* setUp
        yield* Effect.promise(() => saving(room, elsewhere))
      }),
    patienceMs
  )
})

describe("gateway image --edit", () => {
  scenario("sends pictures and a mask as a form, and saves what comes back", async ({ command, path, upstream }) => {
    upstream.always(Fake.json({ created: 1, data: [{ b64_json: png.toString("base64") }] }))
    writeFileSync(path("a.png"), png)
    writeFileSync(path("b.jpg"), jpeg)
    writeFileSync(path("notes.txt"), "no picture")
    const ask = ["image", "Make", "it", "night", "-m", "openai/gpt-image-1"]
    const one = await command(...ask, "--edit", path("a.png"), "--size", "1024x1024", "-o", path("night.png"), "--json")
    assert.strictEqual(one.code, 0, one.stderr)
    assert.deepStrictEqual(JSON.parse(one.stdout).files, [{ path: path("night.png"), bytes: png.length }])
    assert.isTrue(readFileSync(path("night.png")).equals(png))
    const [first] = upstream.requests
    assert.strictEqual(first?.url, "/v1/images/edits")
    for (const part of [
      'name="image"; filename="a.png"\r\nContent-Type: image/png\r\n',
      'name="prompt"\r\n\r\nMake it night\r\n',
      'name="size"\r\n\r\n1024x1024\r\n'
    ]) {
      assert.include(first?.body ?? "", part)
    }
    const several = ["--edit", path("a.png"), "--edit", path("b.jpg"), "--mask", path("a.png"), "-o", path("n.png")]
    const two = await command(...ask, ...several)
    assert.strictEqual(two.code, 0, two.stderr)
    const body = upstream.requests[1]?.body ?? ""
    for (const part of ['"image[]"; filename="a.png"', '"image[]"; filename="b.jpg"', '"mask"; filename="a.png"']) {
      assert.include(body, part)
    }
    for (const [words, out, said] of [
      [["--edit", path("a.png")], "night.png", "there already"],
      [["--edit", path("a.png")], "no/folder/x.png", "cannot be written"],
      [["--edit", path("notes.txt")], "x.png", "is no PNG"],
      [["--edit", path("none.png")], "x.png", "cannot be read"],
      [["--mask", path("a.png")], "x.png", "--edit"]
    ] as const) {
      const refused = await command(...ask, ...words, "-o", path(out))
      assert.strictEqual(refused.code, said === "cannot be written" ? 1 : 2, refused.stderr)
      assert.include(refused.stderr, said)
    }
    assert.lengthOf(upstream.requests, 2)
  })
})

const saving = async ({ env, folder, gateway, path, sent, upstream }: SetUp, elsewhere: Fake.FakeUpstream) => {
  const base64 = png.toString("base64")
  let data: ReadonlyArray<object> = [{ b64_json: base64 }, { url: `data:image/png;base64,${base64}` }]
  upstream.always((response, request) => Fake.json({ created: 1, data })(response, request))
  await gateway.manage("PATCH", "/api/pricing", { openai: { "gpt-image-1": { perImage: 0.04 } } })
  const image = (words: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
    run(["image", "A", "lighthouse", ...words], { ...env, ...more })

  const options = ["--n", "2", "--size", "1024x1024", "--quality", "high", "-o", path("out.png"), "--json"]
  const two = await image(options)
  assert.strictEqual(two.code, 0, two.stderr)
  assert.deepStrictEqual(sent(0), {
    model: "gpt-image-1",
    prompt: "A lighthouse",
    n: 2,
    size: "1024x1024",
    quality: "high"
  })
  const result = JSON.parse(two.stdout)
  assert.deepInclude(result, { provider: "openai", model: "gpt-image-1", costUsd: 0.08 })
  assert.deepStrictEqual(
    result.files.map((file: { readonly path: string }) => file.path),
    [path("out-1.png"), path("out-2.png")]
  )
  for (const name of ["out-1.png", "out-2.png"]) assert.isTrue(readFileSync(path(name)).equals(png))

  data = [{ url: `${elsewhere.origin}/p` }]
  const refused = await image(["-o", path("far.jpg")])
  assert.deepStrictEqual([refused.code, readdirSync(folder).includes("far.jpg")], [1, false])
  assert.include(refused.stderr, "outbound policy")
  assert.lengthOf(elsewhere.requests, 0)
  const open = { OUTBOUND_SSRF_GUARD_ENABLED: "false" }
  const fetched = await image(["-o", folder], open)
  assert.strictEqual(fetched.code, 0, fetched.stderr)
  assert.isTrue(readFileSync(path("image.jpg")).equals(jpeg))
  assert.isUndefined(elsewhere.requests[0]?.headers.authorization)
  const inPipe = await image([], open)
  assert.isTrue(inPipe.stdout.endsWith("picture"), inPipe.stderr)
  assert.strictEqual((await image(["-n", "2"])).code, 2)
}

describe("gateway transcribe", () => {
  scenario("sends the recording with its name, and prints what was said", async (room) => {
    const { command, env, path, upstream } = room
    upstream.always((response, request) => {
      const format = /name="response_format"\r\n\r\n(\w+)\r\n/.exec(request.body)?.[1] ?? ""
      const answer =
        format === "srt"
          ? Fake.text("1\n00:00:00,000 --> 00:00:01,000\nHello\n\n")
          : format === "text"
            ? Fake.text("Hello\u001b there.\n")
            : Fake.json({ text: "Hello\u001b there." })
      return answer(response, request)
    })
    writeFileSync(path("talk.mp3"), "ID3 sound")
    const words = ["transcribe", path("talk.mp3")]
    const text = await command(...words, "-m", "openai/whisper-1", "--language", "en")
    assert.deepStrictEqual(text, { code: 0, stdout: "Hello? there.\n", stderr: "" })
    const [first] = upstream.requests
    assert.strictEqual(first?.url, "/v1/audio/transcriptions")
    for (const part of [
      'name="file"; filename="talk.mp3"',
      "ID3 sound",
      "whisper-1",
      "\r\n\r\ntext\r\n",
      "\r\n\r\nen\r\n"
    ]) {
      assert.include(first?.body ?? "", part)
    }
    const object = await command(...words, "--json")
    assert.include(JSON.parse(object.stdout).text, "Hello\u001b there.")
    const subtitles = await command(...words, "--format", "srt", "-o", path("talk.srt"))
    assert.strictEqual(subtitles.code, 0, subtitles.stderr)
    assert.include(subtitles.stderr, "openai/whisper-1")
    assert.match(readFileSync(path("talk.srt"), "utf8"), /^1\n00:00/)
    const asked = upstream.requests.length
    const taken = await command(...words, "--format", "srt", "-o", path("talk.srt"))
    assert.deepStrictEqual([taken.code, upstream.requests.length], [2, asked])
    assert.include(taken.stderr, "there already")
    const nowhere = await command(...words, "-o", path("no/such/folder/talk.txt"))
    assert.deepStrictEqual([nowhere.code, upstream.requests.length], [1, asked])
    assert.include(nowhere.stderr, "cannot be written")
    assert.strictEqual((await command(...words, "--format", "srt", "--json")).code, 2)
    assert.strictEqual((await command("transcribe", path("none.mp3"))).code, 2)
    const heard = await fed(main, ["transcribe", "-"], env, "sound from a pipe")
    assert.strictEqual(heard.code, 0, heard.stderr)
    assert.include(upstream.requests.at(-1)?.body ?? "", "sound from a pipe\r\n--")
  })
})

describe("gateway cache measure", () => {
  scenario("shows what a model would do as the judge of the semantic cache", async ({ gateway, upstream }) => {
    const answer = (vectorOf: (text: string) => ReadonlyArray<number>) =>
      upstream.always((response, request) => {
        const input: ReadonlyArray<string> = JSON.parse(request.body).input
        const data = input.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text) }))
        Fake.json({ object: "list", model: "e", data, usage: { prompt_tokens: 4, total_tokens: 4 } })(response, request)
      })
    const measured = (...more: ReadonlyArray<string>) =>
      Effect.runPromise(
        typed(["cache", "measure", "--url", gateway.url, "--gateway-key", Gateway.adminKey, ...more], 80)
      )
    // Every text is every other one: only the words can tell them apart.
    answer(() => [1, 0])
    const blind = await measured()
    assert.strictEqual(blind.code, 0, blind.stderr)
    assert.include(blind.stderr, "528 pairs of one question in other words, 4544 pairs of two similar questions")
    assert.include(blind.stderr, "should not judge")
    assert.match(blind.stdout, /0\.98 +[12]\d\.\d % +0\.\d % +100\.0 % +100\.0 %/)
    // No text is another one.
    answer((text) =>
      Array.from({ length: 352 }, (_, at) => ((text.length * 31 + text.charCodeAt(4)) % 352 === at ? 1 : 0))
    )
    const { threshold } = JSON.parse((await measured("--json")).stdout)
    assert.isNumber(threshold)
    answer(() => [])
    const none = await measured()
    assert.strictEqual(none.code, 1)
  })
})
