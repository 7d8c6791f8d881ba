/** The values that a session of the transparent mode is started with. Pure. */

export interface TransparentSettings {
  /** TCP port of the connections that are intercepted. */
  readonly dport: number
  /** Firewall mark of their packets. */
  readonly mark: number
  /** Port of the listener. */
  readonly onPort: number
  readonly routeTable: number
  /** Firewall mark of the gateway's own connections. */
  readonly bypassMark: number
}

export const defaultSettings: TransparentSettings = {
  dport: 443,
  mark: 0x2333,
  onPort: 8443,
  routeTable: 233,
  bypassMark: 0x539
}

export interface SettingProblem {
  readonly field: keyof TransparentSettings
  /** Goes on from the field's name. */
  readonly problem: string
}

const mostPort = 65_535
/** Marks and table numbers have 32 bits. */
const most = 0xffff_ffff
/** The kernel's own: default, main and local (https://man7.org/linux/man-pages/man8/ip-route.8.html). */
const reservedTables = new Set([253, 254, 255])

const whole = (field: keyof TransparentSettings, value: number, upTo: number): ReadonlyArray<SettingProblem> =>
  Number.isInteger(value) && value >= 1 && value <= upTo
    ? []
    : [{ field, problem: `must be a whole number from 1 to ${upTo}` }]

/** Empty when all values can be used. */
export const problemsOf = (settings: TransparentSettings): ReadonlyArray<SettingProblem> => [
  ...whole("dport", settings.dport, mostPort),
  ...whole("mark", settings.mark, most),
  ...whole("onPort", settings.onPort, mostPort),
  ...whole("routeTable", settings.routeTable, most),
  ...whole("bypassMark", settings.bypassMark, most),
  ...(settings.bypassMark === settings.mark
    ? [{ field: "bypassMark", problem: "must differ from the mark" } as const]
    : []),
  ...(reservedTables.has(settings.routeTable)
    ? [{ field: "routeTable", problem: "is one of the system's own tables" } as const]
    : [])
]
