/** The areas of the system, each loaded when it is opened at `system/<path>`; an object of one stands behind it: `system/<path>/<part>`. */
import type { lazy } from "preact-iso"

export interface Area {
  readonly path: string
  readonly name: string
  readonly view: ReturnType<typeof lazy<() => preact.JSX.Element>>
}

export const areas: ReadonlyArray<Area> = []
