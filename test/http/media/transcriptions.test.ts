/** Transcriptions over HTTP: forms that stream through, providers of different forms, and nothing left on disk. */
import { assert, describe } from "@effect/vitest"
import { connect } from "node:net"
import { toFile } from "openai"
import { describe as describeError, UploadNotKept } from "../../../src/contract/domain/Errors.ts"
import { eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { mebibyte, nothingKept, partsOf, recording, scenario, type SetUp, silence } from "./transcriptionRoom.ts"

const deepgramAnswer = {
  metadata: { duration: 2.5 },
  results: {
    channels: [
      {
        detected_language: "en",
        alternatives: [
          {
            transcript: "Hello there. Bye.",
            words: [
              { word: "hello", punctuated_word: "Hello", start: 0.1, end: 0.5 },
              { word: "there", punctuated_word: "there.", start: 0.6, end: 1 },
              { word: "bye", punctuated_word: "Bye.", start: 2, end: 2.4 }
            ]
          }
        ]
      }
    ],
    utterances: [
      { transcript: "Hello there.", start: 0.1, end: 1 },
      { transcript: "Bye.", start: 2, end: 2.4 }
    ]
  }
}

describe("POST /v1/audio/transcriptions", () => {
  for (const [size, bytes] of [
    ["in memory", 1_000],
    ["on disk", 700_000]
  ] as const) {
    scenario(`gives the official SDK the upstream's answer to a recording that is kept ${size}`, async (room) => {
      const { gateway, openai, sdk } = room
      let keptMeanwhile = -1
      openai.always((response, request) => {
        keptMeanwhile = room.kept().length
        return Fake.json({ text: "Hello there.", usage: { type: "duration", seconds: 3 } })(response, request)
      })
      await gateway.manage("PATCH", "/api/pricing", { openai: { "whisper-1": { perSecond: 0.0001 } } })
      const { data, response } = await sdk.audio.transcriptions
        .create({
          model: "openai/whisper-1",
          file: await toFile(recording(bytes), "übung.mp3", { type: "audio/mpeg" }),
          language: "en",
          temperature: 0
        })
        .withResponse()
      assert.deepInclude(data, { text: "Hello there." })
      assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.0003000000")
      assert.strictEqual(response.headers.get("x-gateway-provider"), "openai")
      const [asked] = openai.requests
      assert.strictEqual(asked?.url, "/v1/audio/transcriptions")
      assert.strictEqual(asked?.headers["content-length"], String(Buffer.byteLength(asked?.body ?? "")))
      assert.deepStrictEqual(partsOf(asked!), {
        model: "whisper-1",
        language: "en",
        temperature: "0",
        file: `übung.mp3 ${bytes}`
      })
      assert.strictEqual(keptMeanwhile > 0, bytes > 262_144)
      const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
      assert.deepInclude(row, { outcome: "completed", costUsd: 0.0003, usageSource: "upstream" })
      await nothingKept(room)
    })
  }

  scenario("sends a recording on disk again to a provider of another form", async (room) => {
    const { deepgram, gateway, openai, send } = room
    const targets = [{ model: "openai/whisper-1" }, { model: "deepgram/nova-3" }]
    await gateway.manage("POST", "/api/combos", { name: "ears", strategy: "priority", targets })
    openai.always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    deepgram.always(Fake.json(deepgramAnswer))
    const bytes = recording(900_001)
    const response = await send({ model: "ears", prompt: "names" }, bytes)
    assert.strictEqual(response.status, 200)
    assert.deepStrictEqual(await response.json(), {
      text: "Hello there. Bye.",
      usage: { type: "duration", seconds: 3 }
    })
    assert.strictEqual(response.headers.get("x-gateway-dropped"), "prompt")
    const [asked] = deepgram.requests
    assert.strictEqual(asked?.url, "/v1/listen?model=nova-3&smart_format=true&detect_language=true")
    assert.strictEqual(asked?.headers["content-type"], "audio/mpeg")
    assert.strictEqual(asked?.headers.authorization, "Token k")
    assert.strictEqual(asked?.body, bytes.toString())
    assert.isAtLeast(openai.requests.length, 1)
    for (const { body } of openai.requests) assert.include(body, bytes.toString())
    await nothingKept(room)
  })

  scenario("makes every format of a Deepgram answer", async ({ deepgram, send }) => {
    deepgram.always(Fake.json(deepgramAnswer))
    const ask = async (format: string, more: Readonly<Record<string, string>> = {}) => {
      const response = await send({ model: "deepgram/nova-3", response_format: format, language: "en", ...more })
      return { type: response.headers.get("content-type"), text: await response.text() }
    }
    assert.deepStrictEqual(await ask("text"), { type: "text/plain; charset=utf-8", text: "Hello there. Bye.\n" })
    assert.strictEqual(
      (await ask("srt")).text,
      "1\n00:00:00,100 --> 00:00:01,000\nHello there.\n\n2\n00:00:02,000 --> 00:00:02,400\nBye.\n\n"
    )
    assert.strictEqual(
      (await ask("vtt")).text,
      "WEBVTT\n\n00:00:00.100 --> 00:00:01.000\nHello there.\n\n00:00:02.000 --> 00:00:02.400\nBye.\n\n"
    )
    assert.deepStrictEqual(JSON.parse((await ask("verbose_json", { "timestamp_granularities[]": "word" })).text), {
      task: "transcribe",
      language: "en",
      duration: 2.5,
      text: "Hello there. Bye.",
      words: [
        { word: "Hello", start: 0.1, end: 0.5 },
        { word: "there.", start: 0.6, end: 1 },
        { word: "Bye.", start: 2, end: 2.4 }
      ],
      segments: [
        { id: 0, start: 0.1, end: 1, text: "Hello there." },
        { id: 1, start: 2, end: 2.4, text: "Bye." }
      ]
    })
    assert.include(deepgram.requests[3]?.url, "language=en&utterances=true")
  })

  /** What AssemblyAI answers to an upload, to the order of a transcript, and to the first question about it. */
  const begunAt = ({ assemblyai }: SetUp) => {
    assemblyai.enqueue(
      Fake.json({ upload_url: "https://cdn.assemblyai.com/upload/u1" }),
      Fake.json({ id: "t1", status: "queued" }),
      Fake.json({ id: "t1", status: "processing" })
    )
  }
  const assemblyAiAnswer = {
    id: "t1",
    status: "completed",
    text: "Hello there. Bye.",
    language_code: "en_us",
    audio_duration: 3,
    words: [
      { text: "Hello", start: 100, end: 500, confidence: 0.9 },
      { text: "there.", start: 600, end: 1000, confidence: 0.9 },
      { text: "Bye.", start: 2000, end: 2400, confidence: 0.9 }
    ],
    utterances: null
  }
  const urls = (requests: ReadonlyArray<Fake.RecordedRequest>) => requests.map(({ method, url }) => `${method} ${url}`)

  scenario(
    "uploads a recording on disk to AssemblyAI after another provider failed, and polls its transcript",
    async (room) => {
      const { assemblyai, gateway, openai, send } = room
      const targets = [{ model: "openai/whisper-1" }, { model: "assemblyai/universal-2" }]
      await gateway.manage("POST", "/api/combos", { name: "ears", strategy: "priority", targets })
      await gateway.manage("PATCH", "/api/pricing", { assemblyai: { "universal-2": { perSecond: 0.0001 } } })
      openai.always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
      begunAt(room)
      assemblyai.always(Fake.json(assemblyAiAnswer))
      const bytes = recording(900_001)
      const response = await send({ model: "ears", prompt: "names" }, bytes)
      assert.strictEqual(response.status, 200)
      assert.deepStrictEqual(await response.json(), {
        text: "Hello there. Bye.",
        usage: { type: "duration", seconds: 3 }
      })
      assert.strictEqual(response.headers.get("x-gateway-dropped"), "prompt")
      assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.0003000000")
      assert.deepStrictEqual(urls(assemblyai.requests), [
        "POST /v2/upload",
        "POST /v2/transcript",
        "GET /v2/transcript/t1",
        "GET /v2/transcript/t1"
      ])
      for (const { headers } of assemblyai.requests) assert.strictEqual(headers.authorization, "k")
      const [uploaded, ordered] = assemblyai.requests
      assert.strictEqual(uploaded?.body, bytes.toString())
      assert.strictEqual(uploaded?.headers["content-type"], "application/octet-stream")
      assert.deepStrictEqual(JSON.parse(ordered?.body ?? ""), {
        audio_url: "https://cdn.assemblyai.com/upload/u1",
        speech_models: ["universal-2"],
        language_detection: true
      })
      const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
      assert.deepInclude(row, {
        outcome: "completed",
        provider: "assemblyai",
        costUsd: 0.0003,
        usageSource: "upstream"
      })
      await nothingKept(room)
    }
  )

  scenario("makes every format of an AssemblyAI answer", async (room) => {
    const { assemblyai, send } = room
    assemblyai.always(Fake.json(assemblyAiAnswer))
    const ask = async (format: string, more: Readonly<Record<string, string>> = {}) => {
      begunAt(room)
      const response = await send({ model: "assemblyai/universal-2", response_format: format, language: "en", ...more })
      return { type: response.headers.get("content-type"), text: await response.text() }
    }
    assert.deepStrictEqual(await ask("text"), { type: "text/plain; charset=utf-8", text: "Hello there. Bye.\n" })
    assert.strictEqual(
      (await ask("srt")).text,
      "1\n00:00:00,100 --> 00:00:01,000\nHello there.\n\n2\n00:00:02,000 --> 00:00:02,400\nBye.\n\n"
    )
    assert.strictEqual(
      (await ask("vtt")).text,
      "WEBVTT\n\n00:00:00.100 --> 00:00:01.000\nHello there.\n\n00:00:02.000 --> 00:00:02.400\nBye.\n\n"
    )
    assert.deepInclude(JSON.parse((await ask("verbose_json", { "timestamp_granularities[]": "word" })).text), {
      language: "en_us",
      duration: 3,
      words: [
        { word: "Hello", start: 0.1, end: 0.5 },
        { word: "there.", start: 0.6, end: 1 },
        { word: "Bye.", start: 2, end: 2.4 }
      ]
    })
    assert.deepInclude(JSON.parse(assemblyai.requests[1]?.body ?? ""), { language_code: "en" })
  })

  scenario("tells AssemblyAI's words of a recording that it cannot read", async (room) => {
    const { assemblyai, send } = room
    begunAt(room)
    const error = "Transcoding failed. File does not appear to contain audio."
    assemblyai.always(Fake.json({ id: "t1", status: "error", error }))
    const response = await send({ model: "assemblyai/universal-2" })
    assert.strictEqual(response.status, 400)
    assert.include(await response.text(), error)
    await nothingKept(room)
  })

  scenario("asks ElevenLabs with a form of its own", async ({ elevenlabs, send }) => {
    elevenlabs.always(
      Fake.json({
        language_code: "eng",
        text: "Hello there.",
        words: [
          { text: "Hello", start: 0, end: 0.5, type: "word" },
          { text: " ", start: 0.5, end: 0.6, type: "spacing" },
          { text: "there.", start: 0.6, end: 1.2, type: "word" }
        ]
      })
    )
    const response = await send({ model: "elevenlabs/scribe_v1", response_format: "srt", language: "en" })
    assert.strictEqual(await response.text(), "1\n00:00:00,000 --> 00:00:01,200\nHello there.\n\n")
    const [asked] = elevenlabs.requests
    assert.strictEqual(asked?.url, "/v1/speech-to-text")
    assert.strictEqual(asked?.headers["xi-api-key"], "k")
    assert.deepStrictEqual(partsOf(asked!), {
      model_id: "scribe_v1",
      language_code: "en",
      timestamps_granularity: "word",
      tag_audio_events: "false",
      file: "a.mp3 1000"
    })
  })

  scenario("passes a text answer on, billed by the seconds of the recording", async ({ gateway, openai, send }) => {
    await gateway.manage("PATCH", "/api/pricing", { openai: { "whisper-1": { perSecond: 0.0001 } } })
    openai.always((response) => void response.writeHead(200, { "content-type": "text/plain" }).end("Hello.\n"))
    const response = await send({ model: "openai/whisper-1", response_format: "text" }, silence(5), "a.wav")
    assert.strictEqual(await response.text(), "Hello.\n")
    assert.strictEqual(response.headers.get("content-type"), "text/plain")
    assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.0005000000")
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "completed", costUsd: 0.0005, usageSource: "estimated" })
  })

  scenario("streams deltas to the official SDK, with the usage of their end", async ({ gateway, openai, sdk }) => {
    openai.always(
      Fake.sse([
        'data: {"type":"transcript.text.delta","delta":"Hel"}\n\n',
        'data: {"type":"transcript.text.delta","delta":"lo"}\n\n',
        'data: {"type":"transcript.text.done","text":"Hello","usage":{"type":"tokens","input_tokens":14,"output_tokens":3,"total_tokens":17}}\n\n'
      ])
    )
    const { data, response } = await sdk.audio.transcriptions
      .create({ model: "openai/gpt-4o-transcribe", file: await toFile(recording(100), "a.mp3"), stream: true })
      .withResponse()
    const events = []
    for await (const event of data) events.push(event.type === "transcript.text.delta" ? event.delta : event.type)
    assert.deepStrictEqual(events, ["Hel", "lo", "transcript.text.done"])
    assert.strictEqual(partsOf(openai.requests[0]!)["stream"], "true")
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "completed", streamed: true, usageSource: "upstream" })
    assert.deepInclude(row.tokens, { in: 14, out: 3 })
  })

  scenario("does not end a stream that was cut as if it were whole", async ({ gateway, openai, send }) => {
    openai.always(Fake.sse(['data: {"type":"transcript.text.delta","delta":"Hel"}\n\n']))
    const response = await send({ model: "openai/gpt-4o-transcribe", stream: "true" })
    const text = await response.text()
    assert.include(text, '"delta":"Hel"')
    assert.notInclude(text, "transcript.text.done")
    assert.include(text, '"error"')
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "failed" })
  })

  scenario("tells a whole answer as a stream where one was asked for", async ({ deepgram, sdk }) => {
    deepgram.always(Fake.json(deepgramAnswer))
    const file = await toFile(recording(100), "a.mp3")
    const events = []
    for await (const event of await sdk.audio.transcriptions.create({ model: "deepgram/nova-3", file, stream: true }))
      events.push(event)
    assert.deepStrictEqual(events as ReadonlyArray<unknown>, [
      { type: "transcript.text.delta", delta: "Hello there. Bye." },
      { type: "transcript.text.done", text: "Hello there. Bye." }
    ])
  })

  scenario("tells the upstream's own words of what is no recording", async (room) => {
    const { openai, send } = room
    const error = { message: "Invalid file format.", type: "invalid_request_error", param: "file", code: null }
    openai.always(Fake.json({ error }, { status: 400 }))
    const response = await send({ model: "openai/whisper-1" }, recording(400_000), "../../etc/pass\u202ewd\n.mp3")
    assert.strictEqual(response.status, 400)
    const told = (await response.json()) as { error: { message: string; type: string } }
    assert.include(told.error.message, "Invalid file format.")
    assert.strictEqual(told.error.type, "invalid_request_error")
    assert.notInclude(partsOf(openai.requests[0]!)["file"], "/")
    assert.strictEqual(openai.requests.length, 1)
    await nothingKept(room)
  })

  scenario("refuses a form that cannot be served, and asks no provider", async (room) => {
    const { gateway, openai, send } = room
    for (const [fields, file, param] of [
      [{ model: "openai/whisper-1" }, null, "file"],
      [{}, recording(10), "model"],
      [{ model: "openai/whisper-1", temperature: "warm" }, recording(10), "temperature"],
      [{ model: "openai/whisper-1" }, Buffer.alloc(0), "file"]
    ] as const) {
      const response = await send(fields, file)
      assert.strictEqual(response.status, 400, JSON.stringify(fields))
      assert.strictEqual(((await response.json()) as { error: { param: string } }).error.param, param)
    }
    const raw = async (body: string, contentType = "multipart/form-data; boundary=b") => {
      const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
        method: "POST",
        body,
        headers: { "content-type": contentType }
      })
      await response.text()
      return response.status
    }
    const file = (name = "file") => `--b\r\nContent-Disposition: form-data; name="${name}"; filename="f"\r\n\r\nx\r\n`
    const value = (name: string, text: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
    const model = value("model", "openai/whisper-1")
    const end = "--b--\r\n"
    for (const body of [
      "",
      file() + model,
      model + file() + model + end,
      model + file() + file() + end,
      model + file("mask") + end,
      model + file() + value("x", "y").repeat(100) + end,
      model + file() + value("prompt", "y".repeat(300_000)) + end,
      model + file() + value("n".repeat(300), "y") + end,
      `--b\r\nX: ${"y".repeat(100_000)}\r\n\r\n${model}${file()}${end}`
    ]) {
      assert.strictEqual(await raw(body), 400, body.slice(0, 200))
    }
    assert.strictEqual(await raw(model + file() + end, "multipart/form-data"), 400)
    assert.strictEqual(await raw(model + file() + end, "multipart/form-data; boundary=other"), 400)
    assert.strictEqual(await raw("{}", "application/json"), 415)
    assert.strictEqual(openai.requests.length, 0)
    await nothingKept(room)
  })

  /** A request as bytes; what is written to the socket is the test's business. */
  const rawUpload = (url: string, head: ReadonlyArray<string>) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    let text = ""
    socket.on("data", (chunk) => {
      text += chunk.toString()
    })
    socket.on("error", () => {})
    const ended = new Promise<void>((resolve) => socket.once("end", resolve))
    const lines = ["POST /v1/audio/transcriptions HTTP/1.1", "Host: 127.0.0.1", ...head]
    socket.write([...lines, "Content-Type: multipart/form-data; boundary=b", "", ""].join("\r\n"))
    return { socket, text: () => text, ended }
  }

  const fileHead = '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'

  scenario("refuses a form that announces too much before a byte of it came", async ({ gateway }) => {
    const { ended, socket, text } = rawUpload(gateway.url, [`Content-Length: ${10 * mebibyte}`])
    await ended
    assert.match(text(), /^HTTP\/1\.1 413 /)
    assert.include(text(), "GATEWAY_MAX_UPLOAD_MB")
    socket.destroy()
  })

  const wholeForm = [
    '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nopenai/whisper-1\r\n',
    `${fileHead}sound\r\n--b--\r\n`
  ].join("")
  const inChunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

  scenario("asks nothing before the end of the request, also behind the end of its form", async (room) => {
    room.openai.always(Fake.json({ text: "Hello." }))
    const head = ["Transfer-Encoding: chunked", "Connection: close"]
    const { ended, socket, text } = rawUpload(room.gateway.url, head)
    socket.write(inChunk(wholeForm))
    await nothingKept(room)
    assert.deepStrictEqual([room.openai.requests.length, text()], [0, ""])
    socket.write("0\r\n\r\n")
    await ended
    assert.match(text(), /^HTTP\/1\.1 200 [^]*Hello\./)
    socket.destroy()
  })

  scenario("answers a client that sends on without an end behind its form", async (room) => {
    room.openai.always(Fake.json({ text: "Hello." }))
    const { ended, socket, text } = rawUpload(room.gateway.url, ["Transfer-Encoding: chunked"])
    socket.write(inChunk(wholeForm))
    for (let count = 0; count < 3; count += 1) socket.write(inChunk("x".repeat(40_000)))
    await ended
    assert.match(text(), /^HTTP\/1\.1 200 [^]*Hello\./)
    socket.destroy()
  })

  scenario("cuts off a form that is larger than was announced, and keeps nothing", async (room) => {
    const { ended, socket, text } = rawUpload(room.gateway.url, ["Transfer-Encoding: chunked"])
    const chunk = Buffer.from(`${mebibyte.toString(16)}\r\n${"x".repeat(mebibyte)}\r\n`)
    socket.write(`${fileHead.length.toString(16)}\r\n${fileHead}\r\n`)
    for (let count = 0; count < 3; count += 1) socket.write(chunk)
    await ended
    assert.match(text(), /^HTTP\/1\.1 413 /)
    socket.destroy()
    await nothingKept(room)
  })

  scenario("keeps nothing of a client that leaves in the middle of its upload", async (room) => {
    const { socket } = rawUpload(room.gateway.url, [`Content-Length: ${mebibyte}`])
    socket.write(fileHead + "x".repeat(500_000))
    await eventuallyFound("the upload on disk", async () => (room.kept().length > 0 ? true : undefined))
    socket.destroy()
    await nothingKept(room)
    assert.strictEqual(room.openai.requests.length, 0)
  })

  scenario("stops sending and keeps nothing when the client leaves while the upstream listens", async (room) => {
    const { gateway, openai } = room
    const never = Fake.makeLatch()
    openai.always(() => never.opened)
    const leaving = new AbortController()
    const form = new FormData()
    form.append("model", "openai/whisper-1")
    form.append("file", new Blob([new Uint8Array(recording(800_000))]), "a.mp3")
    const asked = fetch(`${gateway.url}/v1/audio/transcriptions`, {
      method: "POST",
      body: form,
      signal: leaving.signal
    }).catch(() => null)
    const { closed } = await openai.received(1)
    leaving.abort()
    await asked
    await closed
    await nothingKept(room)
    never.open()
  })

  scenario("says so when a recording cannot be kept on disk, and goes on with what needs none", async (room) => {
    const { breakDisk, openai, send } = room
    openai.always(Fake.json({ text: "Hello." }))
    breakDisk()
    const large = await send({ model: "openai/whisper-1" }, recording(700_000))
    assert.strictEqual(large.status, 500)
    const told = (await large.json()) as { error: { message: string; type: string } }
    assert.strictEqual(told.error.message, "The gateway could not keep the upload on its disk. Its log says why.")
    assert.strictEqual(openai.requests.length, 0)
    assert.strictEqual((await send({ model: "openai/whisper-1" })).status, 200)
    const full = describeError(new UploadNotKept({ isDiskFull: true }))
    assert.deepInclude(full, { status: 507, type: "server_error", code: "insufficient_storage" })
  })

  scenario("reserves the seconds of a recording before a provider is asked", async (room) => {
    const { gateway, openai } = room
    openai.always(Fake.json({ text: "Hello." }))
    await gateway.manage("PATCH", "/api/pricing", { openai: { "whisper-1": { perSecond: 0.0001 } } })
    const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "listener" })
    await gateway.manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 0.0012 })
    const statuses: Array<number> = []
    for (let count = 0; count < 3; count += 1) {
      const form = new FormData()
      form.append("model", "openai/whisper-1")
      form.append("file", new Blob([new Uint8Array(silence(8))]), "a.wav")
      const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
        method: "POST",
        body: form,
        headers: { authorization: `Bearer ${secret}` }
      })
      statuses.push(response.status)
      await response.text()
    }
    assert.deepStrictEqual(statuses, [200, 429, 429])
  })

  scenario("refuses forms of foreign pages while no key is required", async ({ gateway, openai }) => {
    const form = new FormData()
    form.append("model", "openai/whisper-1")
    form.append("file", new Blob(["x"]), "a.mp3")
    const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
      method: "POST",
      body: form,
      headers: { origin: "https://elsewhere.example" }
    })
    assert.isAbove(response.status, 400)
    assert.strictEqual(openai.requests.length, 0)
  })

  scenario("translations have a path of their own", async ({ openai, sdk }) => {
    openai.always(Fake.json({ text: "Hello." }))
    const file = await toFile(recording(100), "a.mp3")
    const { text } = await sdk.audio.translations.create({ model: "openai/whisper-1", file })
    assert.strictEqual(text, "Hello.")
    assert.strictEqual(openai.requests[0]?.url, "/v1/audio/translations")
  })
})
