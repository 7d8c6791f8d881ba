/** A gateway of several processes as the tests see it: its provider, its processes, and what is asked of it. */
import { afterAll, assert, beforeAll } from "vitest"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import type { Serving } from "./support.ts"

export const adminKey = "an-admin-key-of-more-than-32-characters"
export const authorization = `Bearer ${adminKey}`

/** Cost of a call of `ask`. */
export const costUsd = 0.000_225

/** A provider that answers at once, or when the test says so; it is of this machine alone, unless another address is given. */
export const provider = (address = "127.0.0.1") => {
  /** Answers that are held back; null: none is wanted. */
  let held: Array<() => void> | null = null
  let calls = 0
  const server = createServer((request, response) => {
    request.resume()
    const answer = (): void => {
      response.setHeader("content-type", "application/json")
      response.end(
        JSON.stringify(
          request.url?.endsWith("/models") === true
            ? { object: "list", data: [{ id: "gpt-4o", object: "model" }] }
            : {
                id: "c",
                object: "chat.completion",
                model: "gpt-4o",
                choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
                usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }
              }
        )
      )
    }
    request.on("end", () => {
      if (request.method === "POST") calls += 1
      if (held === null) answer()
      else held.push(answer)
    })
  })
  const portOf = (): number => {
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  }
  beforeAll(async () => {
    server.listen(0, address)
    await once(server, "listening")
  })
  afterAll(() => void server.close())
  return {
    port: portOf,
    /** Calls that have come. */
    calls: () => calls,
    hold: (): void => {
      held = []
    },
    held: () => held?.length ?? 0,
    release: (): void => {
      for (const answer of held ?? []) answer()
      held = null
    },
    /** The connection to it. */
    connection: () => ({
      provider: "openai",
      name: "work",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: `http://127.0.0.1:${portOf()}/v1`,
      models: ["gpt-4o"]
    })
  }
}

export interface Part {
  readonly pid: number
  readonly role: "owner" | "worker"
  readonly place: number
  readonly life: number
}

/** The processes that a first one has started, as their environments say. */
export const partsOf = (first: number): ReadonlyArray<Part> => {
  const children = readIfThere(`/proc/${first}/task/${first}/children`).split(" ").map(Number)
  return children.flatMap((pid) => {
    const variables = readIfThere(`/proc/${pid}/environ`).split("\0")
    const own = variables.find((variable) => variable.startsWith("GATEWAY_PROCESS="))
    return own === undefined ? [] : [{ ...(JSON.parse(own.slice(own.indexOf("=") + 1)) as Omit<Part, "pid">), pid }]
  })
}

const readIfThere = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** Looks again until it is so; `what` may be worked out at the end. */
export const until = async (
  isSo: () => boolean | Promise<boolean>,
  what: string | (() => string),
  everyMs = 100
): Promise<void> => {
  for (let tries = 0; tries < 600; tries++) {
    if (await isSo()) return
    await sleep(everyMs)
  }
  assert.fail(`It did not come to this: ${typeof what === "string" ? what : what()}`)
}

export const manage = async ({ url }: Serving, method: string, path: string, body?: object) => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  assert.isBelow(response.status, 300, `${method} ${path}: ${text}`)
  return (text === "" ? null : JSON.parse(text)) as unknown
}

export const ask = async (
  { url }: Serving,
  key: string | null = null,
  headers: Readonly<Record<string, string>> = {}
): Promise<number> => {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      // A connection of its own, which any worker may take.
      connection: "close",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...headers
    },
    body: JSON.stringify({ model: "openai/gpt-4o", max_tokens: 20, messages: [{ role: "user", content: "hi" }] })
  })
  await response.arrayBuffer()
  return response.status
}

export const answered = async (server: Serving): Promise<number> => {
  const { logs } = (await manage(server, "GET", "/api/usage/logs?limit=1000")) as {
    readonly logs: ReadonlyArray<object>
  }
  return logs.length
}

/** Those whose limits hold for a request: its key, the key's person and the key's team. */
export const owners = ["key", "person", "team"] as const

/** A key with a budget, of a person and a team with one each: that of `least` is `limitUsd`, and the others are twice as large. */
export const limitedBy = async (server: Serving, name: string, least: (typeof owners)[number], limitUsd: number) => {
  const dailyLimitUsd = (owner: (typeof owners)[number]): number => (owner === least ? limitUsd : 2 * limitUsd)
  const budgetOf = (owner: "person" | "team") => ({ budget: { dailyLimitUsd: dailyLimitUsd(owner) } })
  const { user } = (await manage(server, "POST", "/api/users", {
    name,
    email: `${name}@example.com`,
    ...budgetOf("person")
  })) as { readonly user: { readonly id: string } }
  const { team } = (await manage(server, "POST", "/api/teams", {
    name,
    members: [user.id],
    ...budgetOf("team")
  })) as { readonly team: { readonly id: string } }
  const made = (await manage(server, "POST", "/api/keys", { name, userId: user.id, teamId: team.id })) as {
    readonly key: { readonly id: string }
    readonly secret: string
  }
  await manage(server, "POST", "/api/usage/budget", { apiKeyId: made.key.id, dailyLimitUsd: dailyLimitUsd("key") })
  return made
}
