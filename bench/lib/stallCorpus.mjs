/**
 * Hostile inputs: what a caller, or an upstream, may send to keep the gateway's one thread busy. Each is a request; `upstream` is what
 * the provider answers where that is the hostile part.
 */
const kib = 1024
const mib = 1024 * kib

const json = (value) => JSON.stringify(value)
const times = (count, make) => Array.from({ length: count }, (_, index) => make(index))
const members = (count, value = "0") => `{${times(count, (index) => `"k${index}":${value}`).join(",")}}`
const nested = (levels, open, inner, close) => open.repeat(levels) + inner + close.repeat(levels)

/** Every client wire: where it is spoken, and a request of it with a text, a list of messages, or raw JSON members more. */
const wires = [
  {
    name: "chat",
    path: "/v1/chat/completions",
    said: (content) => ({ model: "up/m", messages: [{ role: "user", content }] }),
    picture: (url) => [{ type: "image_url", image_url: { url } }],
    list: "messages"
  },
  {
    name: "messages",
    path: "/v1/messages",
    said: (content) => ({ model: "up/m", max_tokens: 9, messages: [{ role: "user", content }] }),
    picture: (url) => [{ type: "image", source: { type: "url", url } }],
    list: "messages"
  },
  {
    name: "responses",
    path: "/v1/responses",
    said: (content) => ({ model: "up/m", input: [{ role: "user", content }] }),
    picture: (url) => [{ type: "input_image", image_url: url }],
    list: "input"
  },
  {
    name: "gemini",
    path: "/v1beta/models/up%2Fm:generateContent",
    said: (content) => ({
      contents: [{ role: "user", parts: typeof content === "string" ? [{ text: content }] : content }]
    }),
    picture: (url) => [{ fileData: { mimeType: "image/png", fileUri: url } }],
    list: "contents"
  },
  {
    name: "ollama",
    path: "/api/chat",
    said: (content) => ({ model: "up/m", stream: false, messages: [{ role: "user", content }] }),
    picture: null,
    list: "messages"
  },
  {
    name: "completions",
    path: "/v1/completions",
    said: (prompt) => ({ model: "up/m", prompt }),
    picture: null,
    list: "prompt"
  },
  {
    name: "embeddings",
    path: "/v1/embeddings",
    said: (input) => ({ model: "up/m", input }),
    picture: null,
    list: "input"
  }
]

const withMember = (value, name, raw) => `${json(value).slice(0, -1)},"${name}":${raw}}`

const tool = (parameters) => [{ type: "function", function: { name: "f", parameters } }]

const texts = {
  "1 MiB of plain text": "lorem ipsum ".repeat(mib / 12),
  "1 MiB of dots": ".".repeat(mib),
  "1 MiB of blanks": " ".repeat(mib),
  "1 MiB of line ends": "\n".repeat(mib),
  "1 MiB of backslashes": "\\".repeat(mib / 2),
  "1 MiB of quotes": '"'.repeat(mib / 2),
  "1 MiB of brackets": "[".repeat(mib),
  "1 MiB of slashes": "/".repeat(mib),
  "1 MiB of letters without a break": "a".repeat(mib),
  "1 MiB of emoji": "\u{1F600}".repeat(mib / 4),
  "1 MiB of session marks": "_session_".repeat(mib / 9),
  "1 MiB of think tags": "<think>".repeat(mib / 7)
}

const ofWire = (wire) => {
  const { list, name, path, picture, said } = wire
  const post = (what, body) => ({ name: `${name}: ${what}`, method: "POST", path, body })
  const plain = said("Hi")
  const pictures = (url) => (picture === null ? [] : [json(said(picture(url)))])
  return [
    ...Object.entries(texts).map(([what, text]) => post(what, json(said(text)))),
    post("100,000 unknown keys", withMember(plain, "x", members(99_990))),
    post("100,000 unknown keys at the top", `${json(plain).slice(0, -1)},${members(99_990).slice(1)}`),
    post("200,000 keys", withMember(plain, "x", members(200_000))),
    post("200,000 keys at the top", `${json(plain).slice(0, -1)},${members(200_000).slice(1)}`),
    post("nested 199 deep", withMember(plain, "x", nested(198, '{"a":', "1", "}"))),
    post("nested 20,000 deep", withMember(plain, "x", nested(20_000, "[", "", "]"))),
    post("nested 500,000 deep, never closed", withMember(plain, "x", "[".repeat(500_000))),
    post("64 KiB of wrong entries", json({ ...plain, [list]: times(13_000, () => 7) })),
    post("1 MiB of wrong entries", json({ ...plain, [list]: times(500_000, () => 1) })),
    post("1 MiB of empty entries", json({ ...plain, [list]: times(340_000, () => ({})) })),
    post("50,000 messages", json({ ...plain, [list]: times(50_000, () => (said("a")[list] ?? ["a"])[0]) })),
    post("a model name of 1 MiB", json({ ...plain, model: "m".repeat(mib) })),
    post("a model name of 1 MiB of slashes", json({ ...plain, model: "/".repeat(mib) })),
    post("a model twice and again, 50,000 times", `{${'"model":"up/m",'.repeat(50_000)}${json(plain).slice(1)}`),
    post(
      "tools: a schema 190 deep",
      json({ ...plain, tools: tool(JSON.parse(nested(60, '{"type":"object","properties":{"a":', "{}", "}}"))) })
    ),
    post(
      "tools: a schema of 30,000 members",
      json({ ...plain, tools: tool({ type: "object", properties: JSON.parse(members(30_000, '{"type":"string"}')) }) })
    ),
    post(
      "tools: 10,000 of them",
      json({
        ...plain,
        tools: times(10_000, (index) => ({
          type: "function",
          function: { name: `f${index}`, parameters: { type: "object" } }
        }))
      })
    ),
    post(
      "stop words: 100,000",
      json({ ...plain, stop: times(100_000, () => "a"), stop_sequences: times(100_000, () => "a") })
    ),
    post(
      "metadata: a user id of 1 MiB",
      json({ ...plain, metadata: { user_id: "_session_a".repeat(mib / 10) }, user: "a".repeat(mib) })
    ),
    ...pictures(`http://${"a.".repeat(8_000)}example/`).map((body) => post("a picture's host of 16,000 dots", body)),
    ...pictures(`http://${".".repeat(64_000)}`).map((body) => post("a picture's host of 64,000 dots only", body)),
    ...pictures(`http://x/${"../".repeat(200_000)}`).map((body) => post("a picture's path of 200,000 steps", body)),
    ...pictures(`http://${"[".repeat(mib)}`).map((body) => post("a picture's host of 1 MiB of brackets", body)),
    ...pictures(`data:image/png;base64,${"A".repeat(mib)}`).map((body) => post("a picture of 1 MiB", body)),
    ...pictures(`data:image/png;${";a".repeat(mib / 2)},`).map((body) =>
      post("a data address of 1 MiB of parameters", body)
    ),
    ...(picture === null
      ? []
      : [post("10,000 pictures", json(said(times(10_000, (index) => picture(`http://x/${index}`)[0]))))])
  ]
}

const chatBody = json(wires[0].said("Hi"))
const chatWith = (what, headers, path = "/v1/chat/completions") => ({
  name: `header: ${what}`,
  method: "POST",
  path,
  headers,
  body: chatBody
})

const autoBody = json({ ...wires[0].said("Hi"), model: "auto" })
const headers = [
  { ...chatWith("X-Gateway-Budget of 15,000 digits", { "x-gateway-budget": "1".repeat(15_000) }), body: autoBody },
  {
    ...chatWith("X-Gateway-Budget of 15,000 digits and a letter", { "x-gateway-budget": `${"1".repeat(15_000)}x` }),
    body: autoBody
  },
  { ...chatWith("X-Gateway-Mode of 15,000 letters", { "x-gateway-mode": "a".repeat(15_000) }), body: autoBody },
  chatWith("Authorization of 15,000 blanks", { authorization: `Bearer${" ".repeat(15_000)}x` }),
  chatWith("Cookie of 7,000 parts", { cookie: ";a".repeat(7_000) }),
  chatWith("Origin of 15,000 letters", { origin: `http://${"a".repeat(15_000)}` }),
  chatWith("Host of 15,000 dots", { host: ".".repeat(15_000) }),
  chatWith("Content-Type of 15,000 blanks", {
    "content-type": `application/json${" ".repeat(15_000)}x`,
    origin: "http://127.0.0.1"
  }),
  chatWith("User-Agent of 15,000 parentheses", { "user-agent": "(".repeat(15_000) }),
  chatWith("X-Forwarded-For of 7,000 entries", { "x-forwarded-for": "1,".repeat(7_000) }),
  chatWith("X-Session-Id of 15,000 letters", { "x-session-id": "a".repeat(15_000) }),
  chatWith("Idempotency-Key of 15,000 letters", { "idempotency-key": "a".repeat(15_000) }),
  chatWith("anthropic-beta of 7,000 entries", { "anthropic-beta": "a,".repeat(7_000) }, "/v1/messages"),
  chatWith("traceparent of 15,000 dashes", { traceparent: "-".repeat(15_000) }),
  { name: "path: 15,000 slashes", method: "GET", path: "/".repeat(15_000) },
  { name: "path: 5,000 percent signs", method: "GET", path: `/v1/${"%2f".repeat(5_000)}` },
  { name: "path: 7,000 dots", method: "GET", path: "/v1/models/" + "a/".repeat(7_000) },
  { name: "query: 7,000 parameters", method: "GET", path: `/v1/models?${"a&".repeat(7_000)}` },
  { name: "query: a limit of 15,000 digits", method: "GET", path: `/v1beta/models?pageSize=${"1".repeat(15_000)}` }
]

/** Management bodies, each with the field that is attacked. Validation must not say more than a person reads. */
const managed = [
  ["POST", "/api/keys", "allowedModels", { name: "k" }],
  ["POST", "/api/keys", "rateLimits", { name: "k" }],
  ["POST", "/api/combos", "targets", { name: "c", strategy: "priority" }],
  ["POST", "/api/providers", "models", { provider: "up" }],
  ["POST", "/api/providers", "headers", { provider: "up" }],
  ["POST", "/api/providers", "quotas", { provider: "up" }],
  ["POST", "/api/provider-nodes", "wires", { name: "n", prefix: "n", type: "openai-compatible", baseUrl: "http://x" }],
  ["POST", "/api/quota/groups", "members", { name: "g" }],
  ["PATCH", "/api/pricing", "x", {}],
  ["PATCH", "/api/resilience", "timeouts", {}],
  ["PATCH", "/api/settings", "allowedHosts", {}],
  ["POST", "/api/routing/explain", "body", { model: "up/m" }],
  ["POST", "/api/auth/login", "password", {}]
].flatMap(([method, path, field, more]) => {
  const put = (what, body) => ({ name: `${method} ${path}: ${field}: ${what}`, method, path, body, admin: true })
  return [
    put("64 KiB of wrong entries", json({ ...more, [field]: times(13_000, () => 1.5) })),
    put("1 MiB of wrong entries", json({ ...more, [field]: times(340_000, () => ({})) })),
    put("200,000 keys", withMember({ ...more, z: 0 }, field, members(200_000, "{}"))),
    put("90,000 keys", withMember({ ...more, z: 0 }, field, members(90_000, "{}"))),
    put("90,000 unknown fields", `${json({ ...more, z: 0 }).slice(0, -1)},${members(90_000).slice(1)}`),
    put("nested 20,000 deep", withMember({ ...more, z: 0 }, field, nested(20_000, "[", "", "]"))),
    put("a text of 1 MiB of slashes", json({ ...more, [field]: "/".repeat(mib) })),
    put("a text of 1 MiB of dots", json({ ...more, [field]: ".".repeat(mib) }))
  ]
})

const baseUrls = [
  `http://${".".repeat(64_000)}`,
  `http://x${"/".repeat(mib)}x`,
  `http://x/${"../".repeat(300_000)}`
].map((baseUrl) => ({
  name: `POST /api/provider-nodes: baseUrl of ${baseUrl.slice(7, 10)}…`,
  method: "POST",
  path: "/api/provider-nodes",
  body: json({ name: "n", prefix: "n", type: "openai-compatible", baseUrl }),
  admin: true
}))

const chunk = (content) =>
  `data: ${json({ id: "c", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta: { content } }] })}\n\n`
const streamed = (text) => ({ type: "text/event-stream", body: text })
const asked = (stream) => json({ ...wires[0].said("Hi"), stream })
const done = `data: ${json({ id: "c", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`

/** What a provider may answer. Its words are read as well: errors, streams, lists of models. */
const upstreams = [
  ["a stream of 20,000 events", true, streamed(chunk("a").repeat(20_000) + done)],
  ["a stream of one event of 1 MiB", true, streamed(chunk("a".repeat(mib)) + done)],
  ["a stream of 1 MiB of line ends", true, streamed("\n".repeat(mib) + done)],
  ["a stream of 1 MiB of carriage returns", true, streamed("\r".repeat(mib) + done)],
  ["a stream of 1 MiB of comments", true, streamed(":a\n".repeat(mib / 3) + done)],
  ["a stream of 1 MiB of empty data lines", true, streamed("data:\n".repeat(mib / 6) + done)],
  ["a stream of 1 MiB without a line end", true, streamed("a".repeat(mib))],
  ["an answer of 1 MiB of blanks", false, { type: "application/json", body: " ".repeat(mib) }],
  ["an answer of 200,000 keys", false, { type: "application/json", body: members(200_000) }],
  ["an answer nested 100,000 deep", false, { type: "application/json", body: nested(100_000, "[", "", "]") }],
  [
    "an error of 1 MiB of words",
    false,
    {
      status: 400,
      type: "application/json",
      body: json({ error: { message: "quota reset in 1 m ".repeat(mib / 19) } })
    }
  ],
  [
    "an error of 1 MiB of digits",
    false,
    { status: 429, type: "application/json", body: json({ error: { message: "1".repeat(mib) } }) }
  ],
  ["an error of 1 MiB of HTML", false, { status: 502, type: "text/html", body: "<title>".repeat(mib / 7) }],
  [
    "a Retry-After of 15,000 digits",
    false,
    { status: 429, type: "application/json", body: "{}", headers: { "retry-after": "1".repeat(8_000) } }
  ]
].flatMap(([what, stream, upstream]) =>
  wires
    .filter(({ name }) => name !== "embeddings" && name !== "completions")
    .map(({ name, path, said }) => ({
      name: `upstream answers ${name}: ${what}`,
      method: "POST",
      path: name === "gemini" && stream ? path.replace(":generate", ":streamGenerate") : path,
      body: name === "chat" ? asked(stream) : json({ ...said("Hi"), ...(name === "gemini" ? {} : { stream }) }),
      upstream
    }))
)

const lists = [
  ["300,000 models", json({ data: times(300_000, (index) => ({ id: `m${index}` })) })],
  ["a model name of 8 MiB", json({ data: [{ id: "m".repeat(7 * mib) }] })],
  ["200,000 keys", members(200_000)]
].map(([what, body]) => ({
  name: `upstream's list of models: ${what}`,
  method: "POST",
  // The test of a connection asks for the list anew.
  path: "/api/providers/{connection}/test",
  body: "{}",
  admin: true,
  upstream: { type: "application/json", body }
}))

/** All of it. `{connection}` in a path stands for the id of the connection under test. */
export const corpus = [...headers, ...managed, ...baseUrls, ...wires.flatMap(ofWire), ...upstreams, ...lists]
