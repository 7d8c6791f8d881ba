/** What a person is advised after a refusal: every refusal, credential and place. */
import { assert, describe, it } from "@effect/vitest"
import {
  adviceFor,
  type Credential,
  credentials,
  type Place,
  placeOf,
  places,
  refusalOf,
  refusals
} from "../../../src/cli/gateway/Advice.ts"
import { expectedAdvice } from "./expectedAdvice.ts"

const all = refusals.flatMap((refusal) =>
  credentials.flatMap((credential) =>
    places.map((place) => ({
      refusal,
      credential,
      place,
      advice: adviceFor(refusal, { credential, place, variable: "GATEWAY_API_KEY", isLogin: false }) ?? ""
    }))
  )
)

/** No key changes these. */
const ofNoKey = new Set([
  "guarded",
  "pluginBlocked",
  "providerRefused",
  "inFront",
  "forbidden",
  "badRequest",
  "failed",
  "tooMany",
  "timeout",
  "notOurs"
])

/** The table as rows of cells with the same advice. */
const rowsOf = (refusal: (typeof refusals)[number]) => {
  const rows = new Map<string | null, Array<string>>()
  for (const credential of credentials) {
    for (const place of places) {
      const advice = adviceFor(refusal, { credential, place, variable: "GATEWAY_API_KEY", isLogin: false })
      const cells = rows.get(advice) ?? []
      cells.push(`${credential}/${place}`)
      rows.set(advice, cells)
    }
  }
  return Array.from(rows, ([advice, cells]) => [
    cells.length === credentials.length * places.length ? "all" : cells.join(" "),
    advice
  ])
}

describe("advice", () => {
  it.each(refusals)("after %s is what the table says", (refusal) => {
    assert.deepStrictEqual<unknown>(rowsOf(refusal), expectedAdvice[refusal])
  })

  it("at the address of a login that is offline speaks of the login, whatever key was sent", () => {
    const of = (isLogin: boolean) =>
      adviceFor("offline", { credential: "environment", place: "elsewhere", variable: "GATEWAY_API_KEY", isLogin })
    assert.include(of(true) ?? "", "You are logged in to it")
    assert.notInclude(of(false) ?? "", "logged in")
  })

  it("names the variable whose key was used, and offers --local to the owner", () => {
    for (const refusal of ["keyUnknown", "keyEnded", "scopeMissing", "keyRestricted"] as const) {
      const advice =
        adviceFor(refusal, {
          credential: "inPlaceOfOwner",
          place: "here",
          variable: "GATEWAY_ADMIN_KEY",
          isLogin: false
        }) ?? ""
      assert.match(advice, /^The key of GATEWAY_ADMIN_KEY was used\. .*--local: you run this gateway/)
    }
  })

  it("is there for every refusal, credential and place", () => {
    assert.lengthOf(all, refusals.length * 18)
    for (const { advice, credential, place, refusal } of all) {
      const at = `${refusal} ${credential} ${place}: ${advice}`
      assert.notMatch(advice, /\.\./, at)
      if (ofNoKey.has(refusal)) assert.notMatch(advice, /gateway login|--gateway-key|--scope|--local/, at)
      // What is elsewhere is not started here, and the owner of this machine is not its owner.
      if (place !== "here") assert.notMatch(advice, /Start it|start it|try --local|Try --local/, at)
      if (credential === "owner") assert.notMatch(advice, /--scope|--gateway-key|try --local/, at)
      if (credential === "none") assert.notMatch(advice, /A key was sent/, at)
      if (refusal !== "scopeMissing") assert.notMatch(advice, /--scope/, at)
      assert.notMatch(advice, /'manage'/, at)
    }
  })

  it.each([
    [401, "missing_api_key", false, "keyMissing"],
    [401, "invalid_api_key", true, "keyUnknown"],
    [401, "invalid_api_key", false, "keyMissing"],
    [401, null, true, "keyUnknown"],
    [401, "key_expired", true, "keyEnded"],
    [403, "key_scope", true, "scopeMissing"],
    [403, "key_model", true, "keyRestricted"],
    [403, "owner_only", true, "ownerOnly"],
    [403, "loopback_only", true, "localOnly"],
    [400, "SECURITY_001", true, "guarded"],
    [403, "plugin_blocked", true, "pluginBlocked"],
    [403, "a_code_of_a_plugin", true, "forbidden"],
    [403, "insufficient_quota", true, "forbidden"],
    [429, null, true, "tooMany"],
    [503, "overloaded", true, "failed"],
    [404, null, true, "badRequest"]
  ] as const)("an answer %d with the code %s (key: %s) is %s", (status, code, hasKey, refusal) => {
    assert.strictEqual(refusalOf({ status, code, wasSentOn: false, isOurs: true }, hasKey), refusal)
  })

  it("tells providers and programs in front from the gateway", () => {
    assert.strictEqual(
      refusalOf({ status: 403, code: "key_scope", wasSentOn: true, isOurs: true }, true),
      "providerRefused"
    )
    assert.strictEqual(refusalOf({ status: 401, code: null, wasSentOn: false, isOurs: false }, true), "inFront")
  })

  it.each<[string, Place]>([
    ["http://127.0.0.1:20128", "here"],
    ["http://[::1]:20128", "here"],
    ["https://gateway.example", "elsewhere"],
    ["https://a-b.trycloudflare.com", "tunnel"],
    ["https://machine.net.ts.net/", "tunnel"],
    ["https://trycloudflare.com.example", "elsewhere"],
    ["no address", "elsewhere"]
  ])("%s is %s", (url, place) => {
    assert.strictEqual(
      placeOf(url, (host) => host === "127.0.0.1" || host === "::1"),
      place
    )
  })

  it("of an unknown key names where that key came from", () => {
    const of = (credential: Credential) =>
      adviceFor("keyUnknown", { credential, place: "elsewhere", variable: "GATEWAY_ADMIN_KEY", isLogin: false }) ?? ""
    assert.include(of("environment"), "GATEWAY_ADMIN_KEY")
    assert.include(of("flag"), "--gateway-key")
    assert.include(of("login"), "gateway logout")
    assert.include(of("owner"), "restarted")
  })
})
