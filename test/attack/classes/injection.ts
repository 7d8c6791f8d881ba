/** Text that is to become something else on its way: a header, a statement, a path, a prototype, a terminal's command. */
import type { Arena } from "../Arena.ts"
import { ask, wires } from "../Asks.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"

const words: Readonly<Record<string, string>> = {
  "a line break and a header": "x\r\nX-Injected: yes",
  "a line feed": "x\nX-Injected: yes",
  "a null byte": "x\u0000y",
  "a terminal's command": "\u001b]0;owned\u0007\u001b[2J",
  "text from right to left": "\u202egnp.exe\u2066",
  "a quote and a statement": "x'; DROP TABLE connections; --",
  "a union": "x' UNION SELECT value FROM secrets --",
  "a walk up": "../../../../etc/passwd",
  "an escaped walk up": "..%2f..%2f..%2fetc%2fpasswd",
  "a prototype": "__proto__",
  "a constructor": "constructor",
  "a template": "${7*7}{{7*7}}<%= 7*7 %>",
  markup: "<script>alert(1)</script>",
  "a lone surrogate": "\ud800"
}

const idPaths = [
  "/api/providers/",
  "/api/provider-nodes/",
  "/api/combos/",
  "/api/keys/",
  "/api/routing/decisions/",
  "/api/quota/groups/",
  "/api/usage/"
]

const queries = ["/api/usage/logs?limit=", "/api/usage/logs?cursor=", "/v1/models?limit=", "/v1beta/models?pageToken="]

/** An answer that shows that a word was taken for more than a word. */
const odd = ({ headers, status, text }: Awaited<ReturnType<Arena["open"]["send"]>>): string | null => {
  if (headers["x-injected"] !== undefined) return "a header was injected"
  if (status >= 500 && status !== 502 && status !== 503) return `${status}: ${text.slice(0, 120)}`
  if (/root:x:0|SQLITE|sqlite error|near "/i.test(text)) return `the answer tells: ${text.slice(0, 120)}`
  return null
}

const byModel = pairs(wires, Object.entries(words)).map(([wire, [name, word]]): Attempt => ({
  name: `${wire}: a model named by ${name}`,
  run: async (arena) => {
    const { prefix } = await arena.node(arena.open, wire)
    await arena.connection(arena.open, prefix)
    const { body, path } = ask(wire, wire === "gemini" ? `${prefix}/m` : `${prefix}/${word}`)
    return odd(
      await arena.open.send({
        method: "POST",
        path,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(wire === "gemini" ? { ...body, model: word } : body)
      })
    )
  }
}))

const byId = pairs(idPaths, Object.entries(words)).flatMap(([path, [name, word]]) => {
  // A lone surrogate is no text that a URL can carry.
  if (name === "a lone surrogate") return []
  return [
    {
      name: `GET ${path} of ${name}`,
      run: async ({ open }: Arena) => odd(await open.manage("GET", path + encodeURIComponent(word)))
    }
  ]
})

const byQuery = pairs(queries, Object.entries(words)).flatMap(([path, [name, word]]) => {
  if (name === "a lone surrogate") return []
  return [
    {
      name: `GET ${path} of ${name}`,
      run: async ({ open }: Arena) => odd(await open.manage("GET", path + encodeURIComponent(word)))
    }
  ]
})

const byName = Object.entries(words).map(([name, word]): Attempt => ({
  name: `things named by ${name}`,
  run: async ({ open }) => {
    for (const [path, body] of [
      ["/api/combos", { name: word, strategy: "priority", targets: [] }],
      ["/api/keys", { name: word }],
      [
        "/api/provider-nodes",
        { name: word, prefix: word, type: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" }
      ],
      ["/api/providers", { provider: word, name: word, apiKey: "k".repeat(20) }],
      ["/api/providers", { provider: "openai", name: word, apiKey: `k\r\n${word}` }],
      ["/api/providers", { provider: "openai", name: "n", apiKey: "k".repeat(20), headers: { "x-a": `v\r\n${word}` } }],
      ["/api/providers", { provider: "openai", name: "n", apiKey: "k".repeat(20), headers: { [`x\r\n${word}`]: "v" } }]
    ] as const) {
      const found = odd(await open.manage("POST", path, body))
      if (found !== null) return `${path}: ${found}`
    }
    return null
  }
}))

const prototypes = ["__proto__", "constructor", "prototype"]

const byPrototype = pairs(wires, prototypes).map(([wire, member]): Attempt => ({
  name: `${wire}: a member ${member}`,
  run: async (arena) => {
    const { prefix } = await arena.node(arena.open, wire)
    await arena.connection(arena.open, prefix)
    const { body, path } = ask(wire, `${prefix}/m`)
    const text = JSON.stringify(body).replace(/\}$/, `,"${member}":{"isAdmin":true,"polluted":"yes"}}`)
    const answer = await arena.open.send({
      method: "POST",
      path,
      headers: { "content-type": "application/json" },
      body: text
    })
    const ping = await arena.open.send({ path: "/api/health/ping" })
    return ping.text.includes("polluted") ? "the prototype of all objects was changed" : odd(answer)
  }
}))

export const injection: AttackClass = {
  name: "text that becomes something else",
  atOnce: 8,
  attempts: [...byModel, ...byId, ...byQuery, ...byName, ...byPrototype]
}
