/** Settings of the traffic inspector, from the environment. Pure. */
import { booleanOf } from "../../kernel/text/BooleanText.ts"

export interface InspectorSettings {
  /** Records in memory. */
  readonly bufferEntries: number
  /** Bytes of all records in memory. */
  readonly bufferBytes: number
  readonly maskSecrets: boolean
  /** Bytes of a body that are kept. */
  readonly maxBodyBytes: number
  readonly httpProxyPort: number
  readonly systemProxyGuardMinutes: number
  /** Null: none is set, and nothing may be ingested. */
  readonly ingestToken: string | null
}

export const usualSettings: InspectorSettings = {
  bufferEntries: 1_000,
  bufferBytes: 256 * 1_048_576,
  maskSecrets: true,
  maxBodyBytes: 1_024 * 1_024,
  httpProxyPort: 8_080,
  systemProxyGuardMinutes: 30,
  ingestToken: null
}

const leastTokenChars = 16

export interface ReadSettings {
  readonly settings: InspectorSettings
  /** Values that were not understood, each in one sentence; the usual one is used in their place. */
  readonly problems: ReadonlyArray<string>
}

export const readSettings = (environment: ReadonlyMap<string, string>): ReadSettings => {
  const problems: Array<string> = []
  const whole = (name: string, usual: number, least: number, most: number): number => {
    const text = environment.get(name)?.trim() ?? ""
    if (text === "") return usual
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    problems.push(`${name} must be a whole number from ${least} to ${most}; ${usual} is used.`)
    return usual
  }
  const flag = (name: string, usual: boolean): boolean => {
    const text = environment.get(name)?.trim() ?? ""
    if (text === "") return usual
    const value = booleanOf(text)
    if (value !== null) return value
    problems.push(`${name} must be true or false; ${usual} is used.`)
    return usual
  }
  const token = environment.get("INSPECTOR_INTERNAL_INGEST_TOKEN") ?? ""
  if (token !== "" && token.length < leastTokenChars) {
    problems.push(
      `INSPECTOR_INTERNAL_INGEST_TOKEN needs ${leastTokenChars} characters or more; nothing can be ingested.`
    )
  }
  const settings: InspectorSettings = {
    bufferEntries: whole("INSPECTOR_BUFFER_SIZE", usualSettings.bufferEntries, 1, 100_000),
    bufferBytes: whole("INSPECTOR_BUFFER_MB", 256, 1, 65_536) * 1_048_576,
    maskSecrets: flag("INSPECTOR_MASK_SECRETS", usualSettings.maskSecrets),
    maxBodyBytes: whole("INSPECTOR_MAX_BODY_KB", 1_024, 1, 65_536) * 1_024,
    httpProxyPort: whole("INSPECTOR_HTTP_PROXY_PORT", usualSettings.httpProxyPort, 0, 65_535),
    systemProxyGuardMinutes: whole(
      "INSPECTOR_SYSTEM_PROXY_GUARD_MINUTES",
      usualSettings.systemProxyGuardMinutes,
      1,
      10_080
    ),
    ingestToken: token.length >= leastTokenChars ? token : null
  }
  return { settings, problems }
}
