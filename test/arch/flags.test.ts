/**
 * `docs/flags.md` has every flag with what it does and the tests that show its positions. Written anew by
 * `UPDATE_DOCS=1 npm test -- test/arch/flags.test.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { flagTable, positionsOf } from "./coverage/flags.ts"
import { assertThere, type Shown, toCell } from "./coverage/Shown.ts"
import { flagCatalog, type FlagDefinition, type FlagKey } from "../../src/subjects/flags/FlagCatalog.ts"

const file = fileURLToPath(new URL("../../docs/flags.md", import.meta.url))

const effects = "test/http/flags/effects.test.ts"
const addresses = "the local flag opens this machine and its networks, the private one its networks alone"
const guardrails = "test/http/inference/guardrails.test.ts"
const recovery = "test/http/inference/recovery/safety.test.ts"

/** Where more is shown of a flag than the table of positions has. */
const shown: Partial<Record<FlagKey, Shown>> = {
  MITM_DISABLE_TLS_VERIFY: [
    "test/http/capture/capture.test.ts",
    "MITM_DISABLE_TLS_VERIFY takes a server whose certificate is not good",
    "without MITM_DISABLE_TLS_VERIFY a server whose certificate is not good is refused"
  ],
  REQUIRE_API_KEY: [
    "test/http/inference/refusals.test.ts",
    "missing, wrong, expired, barred and good keys on ${path}",
    "without required keys any key is accepted, and a known one keeps its limits"
  ],
  INPUT_SANITIZER_ENABLED: [
    guardrails,
    "INPUT_SANITIZER_ENABLED takes hidden tags and halves of pairs out, and leaves the rest to the byte",
    "INPUT_SANITIZER_ENABLED=false leaves them"
  ],
  INJECTION_GUARD_MODE: [
    guardrails,
    "${wire}: INJECTION_GUARD_MODE=block refuses an attempt in the wire's own error",
    "INJECTION_GUARD_MODE=warn marks an attempt and sends it as it is, also in the result of a tool",
    "INJECTION_GUARD_MODE=redact takes an attempt out, and hidden text with it",
    "sends everything as it is while no guardrail is on"
  ],
  PII_REDACTION_ENABLED: [
    guardrails,
    "${wire}: PII_REDACTION_ENABLED replaces personal data and leaves ids, reasoning and other values",
    "sends everything as it is while no guardrail is on"
  ],
  PII_RESPONSE_SANITIZATION: [
    guardrails,
    "PII_RESPONSE_SANITIZATION counts the request's findings and the answer's together",
    "sends everything as it is while no guardrail is on"
  ],
  PII_RESPONSE_SANITIZATION_MODE: [
    guardrails,
    "PII_RESPONSE_SANITIZATION_MODE=${mode} answers ${status}",
    "PII_RESPONSE_SANITIZATION counts the request's findings and the answer's together"
  ],
  OUTBOUND_SSRF_GUARD_ENABLED: [
    effects,
    "without the guard all but metadata addresses may be providers, with it what the two flags say"
  ],
  ALLOW_API_KEY_REVEAL: [effects, "show their key with ALLOW_API_KEY_REVEAL, one at a time and to the management only"],
  ENABLE_TLS_FINGERPRINT: [effects, "cannot be switched on, and says why: ENABLE_TLS_FINGERPRINT"],
  FREE_PROXY_ENABLED: [
    "test/http/proxies/proxies.test.ts",
    "of a public list is tried, saved unused, and carries no keys until that is allowed",
    "of a public list is not looked for with FREE_PROXY_ENABLED=false"
  ],
  PROXY_AUTO_SELECT_ENABLED: [
    "test/http/proxies/proxies.test.ts",
    "that is chosen automatically is one that works",
    "go by the proxy of the key, the connection, the provider, of all, or direct"
  ],
  GATEWAY_CONTROL_PLANE_PROXY_DIRECT_FALLBACK: [
    "test/http/proxies/proxies.test.ts",
    "whose proxy is down, with GATEWAY_CONTROL_PLANE_PROXY_DIRECT_FALLBACK=${value}"
  ],
  GATEWAY_ALLOW_PRIVATE_PROVIDER_URLS: [effects, addresses],
  GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: [effects, addresses],
  TOOL_POLICY_MODE: [
    "test/http/inference/guardrails/rules.test.ts",
    "refuses a request that offers a tool which it may not, before anything is asked",
    "marks such a tool with TOOL_POLICY_MODE=warn, and does nothing while it is disabled"
  ],
  RATE_LIMIT_AUTO_ENABLE: [
    effects,
    "are throttled with RATE_LIMIT_AUTO_ENABLE, although the setting's own switch is off"
  ],
  ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE: [
    effects,
    "with ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE=${value}, a second one of a node is answered ${status}"
  ],
  GATEWAY_DISABLE_BACKGROUND_SERVICES: [
    effects,
    "rests with GATEWAY_DISABLE_BACKGROUND_SERVICES from the next start on, and the list says so"
  ],
  GATEWAY_ENABLE_LIVE_WS: [
    "test/http/live/feed.test.ts",
    "has a port of its own where one is named, for pages of the main port too",
    "goes on without a port of its own when it is taken, or switched off"
  ],
  GATEWAY_UPSTREAM_WS_ENABLED: [
    "test/http/ws/refusals.test.ts",
    "every spelling of the three paths is one socket; its head names it",
    "the flag turns it off with 426"
  ],
  GATEWAY_EMERGENCY_FALLBACK: [
    "test/http/inference/recovery/emergency.test.ts",
    "does nothing when its flag is ${off}",
    "answers in place of an account without money, and says so"
  ],
  GATEWAY_MCP_ENFORCE_SCOPES: [
    "test/http/mcp/door.test.ts",
    "lets in who has a key, no page of another origin, and tools by their scopes",
    "lets known keys call every tool with GATEWAY_MCP_ENFORCE_SCOPES=false"
  ],
  GATEWAY_MCP_COMPRESS_DESCRIPTIONS: [
    "test/http/mcp/door.test.ts",
    "speaks with the official client",
    "lists tools shortly with GATEWAY_MCP_COMPRESS_DESCRIPTIONS"
  ],
  MODEL_CATALOG_INCLUDE_NAMES: [
    effects,
    "shows names and prefixes as MODEL_CATALOG_INCLUDE_NAMES and MODELS_CATALOG_PREFIX_MODE say"
  ],
  LEADERBOARD_ELO_SYNC_ENABLED: [
    "test/unit/routing/auto/LeaderboardSync.test.ts",
    "the flag stops both the fetching and the use"
  ],
  STREAM_RECOVERY_ENABLED: [effects, "with STREAM_RECOVERY_ENABLED=${value}, the client reads '${text}'"],
  STREAM_RECOVERY_MIDSTREAM_ENABLED: [
    recovery,
    "a cut stream ends with an error, and no other target continues it",
    "missing terminator, after an orderly end of the body"
  ],
  GATEWAY_RTK_TRUST_PROJECT_FILTERS: [
    "test/http/management/rtk.test.ts",
    "uses a project's filters with GATEWAY_RTK_TRUST_PROJECT_FILTERS or their SHA-256 in the settings, and not without"
  ],
  MODELS_CATALOG_PREFIX_MODE: [
    effects,
    "shows names and prefixes as MODEL_CATALOG_INCLUDE_NAMES and MODELS_CATALOG_PREFIX_MODE say"
  ],
  PRICING_SYNC_ENABLED: [
    "test/unit/usage/PriceSync.test.ts",
    "lies over the embedded prices and below the operator's, and stays when the address fails",
    "asks no one without the variable, although the flag is on",
    "asks no one while the flag is off, although the variable is on"
  ],
  GATEWAY_DISABLE_LOCAL_HEALTHCHECK: [
    effects,
    "leaves local servers alone with GATEWAY_DISABLE_LOCAL_HEALTHCHECK, until it is off again"
  ],
  GATEWAY_DISABLE_TOKEN_HEALTHCHECK: [
    "test/unit/providers/oauth/TokenRefresh.test.ts",
    "looks after idle accounts, one at a time, those that end first before the others",
    "leaves them alone when the operator switched the check off"
  ]
}

const flags: ReadonlyArray<FlagDefinition & { readonly key: FlagKey }> = flagCatalog

const testsOf = (key: FlagKey): ReadonlyArray<Shown> => {
  const others = shown[key]
  return others === undefined ? [positionsOf(key)] : [positionsOf(key), others]
}

const whereOf = (key: FlagKey): string => testsOf(key).map(toCell).join("; ")

const rowOf = (flag: (typeof flags)[number]): string => {
  const values = flag.enumValues === null ? "" : ` of ${flag.enumValues.map((value) => `\`${value}\``).join(", ")}`
  const restart = flag.requiresRestart ? " From the next start on." : ""
  return `| \`${flag.key}\` | \`${flag.defaultValue}\`${values} | ${flag.description}${restart} | ${whereOf(flag.key)} |`
}

const page = [
  "# Feature flags",
  "",
  "`gateway flags list` lists the flags, `gateway flags set <flag> <value>` sets one, `gateway flags unset <flag>` takes that back; over HTTP it is",
  "`/api/settings/feature-flags` (GET, PUT, DELETE), in an admin session only.",
  "",
  "A value that was set there wins over the environment variable of the same name, which wins over the default. An empty variable is not",
  "set; one with a value that the flag cannot have refuses the start. Flags that are on or off take `true`, `1`, `yes`, `on` and `false`, `0`, `no`,",
  '`off`. A change is in force at once, except where it says "From the next start on": until then the list has the new value with',
  "`pendingRestart: true`, and the old one is in force. Each flag has an effect, so `waitsFor` in the list is null for all of them.",
  "",
  "| flag | default | what it does | tests that show its positions, by environment and by database |",
  "| --- | --- | --- | --- |",
  ...flags.map(rowOf),
  ""
].join("\n")

describe("docs/flags.md", () => {
  it("is up to date", () => {
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, page)
    assert.strictEqual(readFileSync(file, "utf8"), page)
  })

  for (const { key } of flags) {
    it(`${key} has tests that show its positions, which are there`, () => {
      for (const tests of testsOf(key)) assertThere(tests)
      assert.include(flagTable(), `"${key}"`, "it has a line in the table")
      const others = shown[key]
      if (others !== undefined) assert.include(assertThere(others), key, `${others[0]} sets the flag`)
    })
  }
})

describe("flags that wait", () => {
  it("are none", () =>
    assert.deepStrictEqual(
      flags.filter(({ waitsFor }) => waitsFor !== null).map(({ key }) => key),
      []
    ))
})
