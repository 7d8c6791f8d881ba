/** What can be switched on that changes a request on its way. A new one is a row here. */
import type { TestGateway } from "../support/TestGateway.ts"

export interface Switch {
  /** Flags that the gateway starts with. */
  readonly flags?: Readonly<Record<string, string>>
  readonly on: (gateway: TestGateway) => Promise<void>
  /** Done between two requests: what it looks at may change while a session goes on. */
  readonly between?: (gateway: TestGateway, request: number) => Promise<void>
  /** It moves marks for the prompt cache, which are no part of what a provider compares. */
  readonly marks?: true
  /** What has to be found in the last request, so that a switch without any effect is noticed. Absent: nothing is. */
  readonly shows?: RegExp
}

const remember = (gateway: TestGateway, content: string): Promise<unknown> =>
  gateway.manage("POST", "/api/memory", { content })

const compression = (engine: string): Switch => ({
  on: async (gateway) => void (await gateway.manage("PUT", "/api/settings/compression", { enabled: true, engine }))
})

const engines = ["lite", "caveman", "rtk", "aggressive", "ultra", "headroom", "session-dedup", "ccr", "stacked"]

export const switches: Readonly<Record<string, Switch>> = {
  nothing: { on: async () => {} },
  memory: {
    on: async (gateway) => {
      await gateway.manage("PUT", "/api/settings/memory", { enabled: true })
      for (const thing of ["tea", "bicycle", "cat"])
        await remember(gateway, `My ${thing} is from Assam, where the river is.`)
    },
    between: async (gateway, request) => {
      await remember(
        gateway,
        `In request ${request} the editor and the compiler were changed, and the tests of step ${request}.`
      )
    },
    shows: /Memory context:/
  },
  "promptCache: auto": {
    on: async (gateway) => void (await gateway.manage("PATCH", "/api/settings", { promptCache: "auto" })),
    marks: true
  },
  cache: {
    on: async (gateway) => {
      await gateway.manage("PATCH", "/api/settings", { cache: { enabled: true, anyTemperature: true } })
    }
  },
  guardrails: {
    flags: { PII_REDACTION_ENABLED: "true", INJECTION_GUARD_MODE: "redact", INPUT_SANITIZER_ENABLED: "true" },
    on: async () => {},
    shows: /EMAIL_REDACTED/
  },
  "system prompt": {
    on: async (gateway) => {
      const prompt = { enabled: true, prefixPrompt: "Answer in English.", suffixPrompt: "Be exact." }
      await gateway.manage("PUT", "/api/settings/system-prompt", prompt)
    },
    shows: /Be exact\./
  },
  ...Object.fromEntries(engines.map((engine) => [`compression: ${engine}`, compression(engine)]))
}

/** All of them at once. */
export const everything: Switch = {
  flags: Object.assign({}, ...Object.values(switches).map(({ flags }) => flags)),
  on: async (gateway) => {
    for (const { on } of Object.values(switches)) await on(gateway)
  },
  between: async (gateway, request) => {
    for (const { between } of Object.values(switches)) await between?.(gateway, request)
  },
  marks: true,
  shows: /Memory context:/
}
