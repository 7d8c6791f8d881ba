/** A browser of its own address, in which people sign in and allow logins: each is slowed down by itself, as on the internet. */
import { Browser, type TestIssuer } from "../support/issuer/TestIssuer.ts"
import type { Arena, Gateway } from "./Arena.ts"

type Headers = Readonly<Record<string, string>>

/** Answer as text, with its body read as JSON where it is some. */
export interface Told {
  readonly status: number
  readonly text: string
  // eslint-disable-next-line typescript/no-explicit-any -- attacks read into answers as they please
  readonly body: any
}

let addresses = 0

/** An address of this machine's loopback that no earlier visitor has used. */
export const freshAddress = (): string => {
  addresses += 1
  return `127.9.${Math.floor(addresses / 250)}.${(addresses % 250) + 1}`
}

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Makes the request of any program to a gateway. */
export const told = async (
  gateway: Gateway,
  method: string,
  path: string,
  headers: Headers,
  body?: unknown,
  from = freshAddress()
): Promise<Told> => {
  const { status, text } = await gateway.send({
    method,
    path,
    from,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })
  return { status, text, body: readJson(text) }
}

export class Visitor extends Browser {
  readonly gateway: Gateway
  readonly url: string
  readonly from = freshAddress()

  constructor(gateway: Gateway) {
    super()
    this.gateway = gateway
    this.url = `http://127.0.0.1:${gateway.port}`
  }

  override async fetch(url: string, init: RequestInit): Promise<Response> {
    if (!url.startsWith(`${this.url}/`)) return super.fetch(url, init)
    const answer = await this.gateway.send({
      method: init.method ?? "GET",
      path: url.slice(this.url.length),
      headers: init.headers as Headers,
      from: this.from,
      ...(typeof init.body === "string" ? { body: init.body } : {})
    })
    const headers = new Headers()
    for (const [name, value] of Object.entries(answer.headers)) {
      for (const one of [value ?? []].flat()) headers.append(name, one)
    }
    const hasBody = ![101, 204, 205, 304].includes(answer.status)
    return new Response(hasBody ? answer.text : null, { status: answer.status, headers })
  }

  /** Asks as a page of the gateway's own does, with the token of its session. */
  async page(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Told> {
    const response = await this.get(this.url + path, {
      method,
      headers: {
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
        ...(await this.csrf()),
        ...headers
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, text, body: readJson(text) }
  }

  async csrf(): Promise<Headers> {
    const response = await this.get(`${this.url}/api/auth/session`)
    const { csrfToken = null } = (await response.json()) as { csrfToken?: string | null }
    return csrfToken === null ? {} : { "x-csrf-token": csrfToken }
  }

  /** Value of the session's cookie; empty: none was set. */
  session(): string {
    return this.cookies(this.url).get("gateway_session") ?? ""
  }

  /** The cookies as a header. */
  cookieHeader(): Headers {
    return { cookie: Array.from(this.cookies(this.url), ([name, value]) => `${name}=${value}`).join("; ") }
  }
}

export interface Directory {
  readonly gateway: Gateway
  readonly issuer: TestIssuer
  /** Id of the issuer at the gateway. */
  readonly id: string
  /** One more issuer at the gateway, at the same address. */
  readonly another: (settings: object) => Promise<string>
}

const clientSecret = "a-secret-of-the-client-of-the-attacks"

/** A gateway of its own with a real directory, so that its throttles are no other class's. */
export const directoryOf = async (arena: Arena, settings: object = {}): Promise<Directory> => {
  const gateway = await arena.watched({ GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "true", REQUIRE_API_KEY: "true" })
  const issuer = await arena.issuer()
  const redirects: Array<string> = []
  const another = async (more: object): Promise<string> => {
    const { issuer: made } = await gateway.must("POST", "/api/issuers", {
      name: arena.fresh("directory"),
      issuer: issuer.url,
      clientId: "gateway",
      clientSecret,
      scopes: ["openid", "profile", "email", "groups"],
      ...more
    })
    redirects.push(made.redirectUri)
    await issuer.say({
      clients: [{ client_id: "gateway", client_secret: clientSecret, redirect_uris: redirects }]
    })
    return String(made.id)
  }
  return { gateway, issuer, id: await another(settings), another }
}

export const account = (sub: string, more: object = {}) => ({
  account: { sub, name: sub, email: `${sub}@example.com`, email_verified: true, groups: [], ...more }
})

/** A person of the directory who has signed in. */
export const signedIn = async (
  { gateway, id, issuer }: Directory,
  sub: string,
  more: object = {}
): Promise<Visitor> => {
  await issuer.say(account(sub, more))
  const visitor = new Visitor(gateway)
  const { page, status } = await visitor.signIn(visitor.url, id)
  if (status !== 200) throw new Error(`${sub} could not sign in: ${status} ${page}`)
  return visitor
}

export const userOf = async (
  gateway: Gateway,
  email: string
): Promise<{ readonly id: string; readonly role: string }> => {
  const { users } = await gateway.must("GET", "/api/users")
  const found = users.find(
    (user: { email: string; issuer: string | null }) => user.email === email && user.issuer !== null
  )
  if (found === undefined) throw new Error(`There is no person ${email}.`)
  return found
}
