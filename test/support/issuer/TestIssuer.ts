/** The issuer of `issuer.mjs` for a scope, and a browser that signs in by it. */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

type Members = Readonly<Record<string, unknown>>

export interface TestIssuer {
  readonly url: string
  /** Says how the issuer is: `account`, `clockOffsetMs`, `altered`, `isForged`, `idTokenS`, `clients`, `rotate`. */
  readonly say: (how: Members) => Promise<void>
  /** Ends it: the directory is away. */
  readonly stop: () => Promise<void>
}

const program = fileURLToPath(new URL("issuer.mjs", import.meta.url))

export const startIssuer: Effect.Effect<TestIssuer, never, Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] })
    const ended = once(child, "exit")
    const lines = createInterface({ input: child.stdout })
    const [url] = (await once(lines, "line")) as [string]
    return {
      url,
      say: async (how: Members) => {
        const answer = await fetch(`${url}/control`, { method: "POST", body: JSON.stringify(how) })
        if (!answer.ok) throw new Error(`The issuer refused: ${await answer.text()}`)
      },
      stop: async () => {
        child.kill()
        await ended
      }
    }
  }),
  (issuer) => Effect.promise(issuer.stop)
)

/** A browser: keeps cookies by host and port, and follows no redirect by itself. */
export class Browser {
  readonly #jars = new Map<string, Map<string, string>>()

  cookies(url: string): Map<string, string> {
    const { host } = new URL(url)
    const jar = this.#jars.get(host) ?? new Map<string, string>()
    this.#jars.set(host, jar)
    return jar
  }

  /** Makes a request; another kind of browser may make it otherwise. */
  fetch(url: string, init: RequestInit): Promise<Response> {
    return fetch(url, init)
  }

  async get(url: string, init: RequestInit = {}): Promise<Response> {
    const jar = this.cookies(url)
    const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ")
    const response = await this.fetch(url, {
      ...init,
      redirect: "manual",
      headers: { ...(cookie === "" ? {} : { cookie }), ...(init.headers as Readonly<Record<string, string>>) }
    })
    for (const set of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = set.split(";")
      const at = pair.indexOf("=")
      const isOver = attributes.some((each) => /^\s*(?:max-age=0|expires=thu, 01 jan 1970)/i.test(each))
      if (isOver) jar.delete(pair.slice(0, at))
      else jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return response
  }

  /** Begins a sign-in and follows the issuer, up to the address at which it comes back. */
  async wayBack(gateway: string, issuerId: string): Promise<string> {
    let url = `${gateway}/api/sign-in/${issuerId}/begin`
    for (let steps = 0; steps < 12; steps += 1) {
      const response = await this.get(url)
      const page = await response.text()
      const refresh = /content="0; url=([^"]+)"/.exec(page)?.[1]?.replaceAll("&amp;", "&") ?? null
      const location = response.headers.get("location") ?? refresh
      if (location === null) throw new Error(`No way on at ${url}: ${response.status} ${page}`)
      url = new URL(location, url).href
      if (url.startsWith(`${gateway}/api/sign-in/`)) return url
    }
    throw new Error("Too many redirects.")
  }

  /** Signs in; the answer of the gateway to the way back. */
  async signIn(gateway: string, issuerId: string): Promise<{ readonly status: number; readonly page: string }> {
    const response = await this.get(await this.wayBack(gateway, issuerId))
    return { status: response.status, page: await response.text() }
  }
}
