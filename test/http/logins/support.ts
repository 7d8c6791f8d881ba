/** A machine that asks for a login, and the page of a person who answers it. */
import { randomBytes } from "node:crypto"
import { challengeOf } from "../../../src/subjects/logins/rules.ts"
import { Browser } from "../../support/issuer/TestIssuer.ts"

type Json = ReturnType<typeof JSON.parse>

export interface Answer {
  readonly status: number
  readonly body: Json
}

export const asked = async (
  url: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
) => {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })
  return { status: response.status, body: (await response.json()) as Json }
}

/** A command line at the gateway of `url`. */
export class Machine {
  secret = ""
  code = ""
  readonly state = randomBytes(32).toString("base64url")
  readonly verifier = randomBytes(32).toString("base64url")
  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  async begin(way: "browser" | "device", machine = "laptop"): Promise<Answer> {
    const back = { port: 49_152, challenge: challengeOf(this.verifier), state: this.state }
    const answer = await asked(this.url, "/api/logins", { way, machine, ...(way === "browser" ? { back } : {}) })
    this.secret = answer.body.secret ?? ""
    this.code = answer.body.code ?? ""
    return answer
  }

  ask(code: string | null = null, verifier = this.verifier): Promise<Answer> {
    const proof = code === null ? {} : { proof: { code, verifier } }
    return asked(this.url, "/api/logins/token", { secret: this.secret, ...proof })
  }
}

/** A page of the dashboard in the browser of a person. */
export class PersonsPage {
  readonly browser: Browser
  readonly url: string

  constructor(url: string, browser = new Browser()) {
    this.url = url
    this.browser = browser
  }

  async csrf(): Promise<string> {
    const response = await this.browser.get(`${this.url}/api/auth/session`)
    return ((await response.json()) as { csrfToken: string | null }).csrfToken ?? ""
  }

  async post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const response = await this.browser.get(this.url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
        "x-csrf-token": await this.csrf(),
        ...headers
      },
      body: JSON.stringify(body)
    })
    const text = await response.text()
    return { status: response.status, body: text === "" ? null : (JSON.parse(text) as Json) }
  }

  look(code: string): Promise<Answer> {
    return this.post("/api/logins/look", { code })
  }

  answer(code: string, allow = true): Promise<Answer> {
    return this.post("/api/logins/answer", { code, allow })
  }

  async allow(code: string): Promise<Answer> {
    await this.look(code)
    return this.answer(code)
  }
}

/** The credential of a login by a device code that this person allows. */
export const loggedIn = async (url: string, page: PersonsPage): Promise<string> => {
  const machine = new Machine(url)
  await machine.begin("device")
  const { body, status } = await page.allow(machine.code)
  if (status !== 200) throw new Error(JSON.stringify(body))
  const answer = await machine.ask()
  return String(answer.body.login?.token)
}

export const withToken = async (url: string, token: string, path: string, init: RequestInit = {}) => {
  const response = await fetch(url + path, {
    ...init,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...init.headers }
  })
  const text = await response.text()
  return { status: response.status, text, body: (text.startsWith("{") ? JSON.parse(text) : null) as Json }
}
