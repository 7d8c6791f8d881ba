/** A company of thirty people in five teams with a directory of its own, and what they do at a gateway besides their work. */
import { assert } from "vitest"
import { PersonsPage } from "../../http/logins/support.ts"
import type { TestIssuer } from "../issuer/TestIssuer.ts"

export const teamCount = 5
export const membersOfTeam = 6

export interface Person {
  readonly sub: string
  readonly team: number
  readonly isLead: boolean
  readonly page: PersonsPage
  readonly userId: string
}

type Json = ReturnType<typeof JSON.parse>

/** The environment of a gateway that may ask what stands beside it on this machine. */
export const besideOthers = {
  GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "true",
  OUTBOUND_SSRF_GUARD_ENABLED: "false"
}

export class Company {
  /** Of the gateway, without a path. */
  readonly url: string
  readonly adminKey: string
  readonly issuer: TestIssuer
  issuerId = ""
  readonly teamIds: Array<string> = []

  constructor(url: string, adminKey: string, issuer: TestIssuer) {
    this.url = url
    this.adminKey = adminKey
    this.issuer = issuer
  }

  async manage(method: string, path: string, body?: object): Promise<Json> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.adminKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    assert.isBelow(response.status, 300, `${method} ${path}: ${text}`)
    return text === "" ? null : JSON.parse(text)
  }

  /** The teams, of which the first has a budget, and the directory, whose groups make people leads and members. */
  async found(monthlyLimitUsd: number): Promise<void> {
    for (let team = 0; team < teamCount; team++) {
      const budget = team === 0 ? { budget: { monthlyLimitUsd } } : {}
      this.teamIds.push((await this.manage("POST", "/api/teams", { name: `Team ${team}`, ...budget })).team.id)
    }
    const groups = this.teamIds.flatMap((id, team) => [
      { group: `team-${team}`, role: "member", team: id },
      { group: `leads-${team}`, role: "lead", team: id }
    ])
    const { issuer } = await this.manage("POST", "/api/issuers", {
      name: "Company",
      issuer: this.issuer.url,
      clientId: "gateway",
      scopes: ["openid", "profile", "email", "groups"],
      groups
    })
    this.issuerId = issuer.id
    const client = { client_id: "gateway", token_endpoint_auth_method: "none", redirect_uris: [issuer.redirectUri] }
    await this.issuer.say({ clients: [client] })
  }

  /** Signs in everybody; the first of each team leads it. */
  async signInAll(): Promise<ReadonlyArray<Person>> {
    const people: Array<Person> = []
    for (let team = 0; team < teamCount; team++)
      for (let index = 0; index < membersOfTeam; index++) people.push(await this.signIn(team, index))
    assert.lengthOf((await this.manage("GET", "/api/users?limit=100")).users, teamCount * membersOfTeam)
    return people
  }

  async signIn(team: number, index: number): Promise<Person> {
    const sub = `t${team}p${index}`
    const isLead = index === 0
    const groups = isLead ? [`team-${team}`, `leads-${team}`] : [`team-${team}`]
    await this.issuer.say({ account: { sub, name: sub, email: `${sub}@example.com`, email_verified: true, groups } })
    const page = new PersonsPage(this.url)
    const { page: text, status } = await page.browser.signIn(this.url, this.issuerId)
    assert.strictEqual(status, 200, text)
    const me = (await (await page.browser.get(`${this.url}/api/me`)).json()) as Json
    assert.strictEqual(me.person.role, isLead ? "lead" : "member")
    return { sub, team, isLead, page, userId: me.person.id }
  }

  /** Who leads a team gives its keys, within the team's limits; the secrets by `sub`. */
  async giveKeys(people: ReadonlyArray<Person>): Promise<ReadonlyMap<string, string>> {
    const secrets = new Map<string, string>()
    for (const { page, team } of people.filter((person) => person.isLead)) {
      for (const { sub, userId } of people.filter((person) => person.team === team)) {
        const { body, status } = await page.post("/api/keys", { name: sub, userId, teamId: this.teamIds[team] })
        assert.strictEqual(status, 201, JSON.stringify(body))
        secrets.set(sub, body.secret)
      }
    }
    return secrets
  }
}
