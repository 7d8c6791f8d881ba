/** Settings of decrypted connections that people change: names that are passed on unread, the servers' authority, and limits. */
import { X509Certificate } from "node:crypto"
import * as Effect from "effect/Effect"
import type { BridgeConfig, Pattern } from "./CaptureViews.ts"
import { CaptureState, idleLimits } from "./CaptureState.ts"
import { limits as patternLimits, readPattern, builtInPatterns } from "./NeverDecrypt.ts"
import { BadValue } from "./CaptureErrors.ts"

const maxPemChars = 65_536

export const makeBridgeSettings = Effect.gen(function* () {
  const { idleTimeoutMs, settings } = yield* CaptureState

  const setBypass = Effect.fn("Capture.setBypass")(function* (patterns: ReadonlyArray<string>) {
    if (patterns.length > patternLimits.patterns) {
      return yield* new BadValue({ field: "patterns", problem: `must have at most ${patternLimits.patterns} entries` })
    }
    const read = patterns.map(readPattern)
    for (const [at, one] of read.entries()) {
      if (!one.ok) return yield* new BadValue({ field: `patterns.${at}`, problem: one.problem })
    }
    yield* settings.set({ bypass: [...new Set(read.flatMap((one) => (one.ok ? [one.pattern] : [])))] })
  })

  const setUpstreamCa = Effect.fn("Capture.setUpstreamCa")(function* (pem: string | null) {
    if (pem === null) return yield* settings.set({ upstreamCa: null })
    const own = yield* Effect.try({
      try: () => {
        if (pem.length > maxPemChars || pem.split("-----BEGIN ").length !== 2) throw new Error("not one certificate")
        const read = new X509Certificate(pem)
        if (!read.ca) throw new Error("no authority")
        return read.toString()
      },
      catch: () => new BadValue({ field: "pem", problem: "must be the certificate of one authority in PEM form" })
    })
    yield* settings.set({ upstreamCa: own })
  })

  const config = Effect.sync((): BridgeConfig => ({
    recordPassthrough: settings.current().recordPassthrough,
    idleTimeoutMs: idleTimeoutMs()
  }))

  const setConfig = Effect.fn("Capture.setConfig")(function* (changed: Partial<BridgeConfig>) {
    const { idleTimeoutMs: idle, recordPassthrough } = changed
    if (idle !== undefined && (!Number.isInteger(idle) || idle < idleLimits.least || idle > idleLimits.most)) {
      return yield* new BadValue({
        field: "idleTimeoutMs",
        problem: `must be a whole number from ${idleLimits.least} to ${idleLimits.most}`
      })
    }
    yield* settings.set({
      ...(idle === undefined ? {} : { idleTimeoutMs: idle }),
      ...(recordPassthrough === undefined ? {} : { recordPassthrough })
    })
    return yield* config
  })

  return {
    bypass: Effect.sync(() => [
      ...builtInPatterns.map((pattern): Pattern => ({ pattern, source: "default" })),
      ...settings.current().bypass.map((pattern): Pattern => ({ pattern, source: "user" }))
    ]),
    setBypass,
    upstreamCa: Effect.sync(() => settings.current().upstreamCa),
    setUpstreamCa,
    config,
    setConfig
  }
})
