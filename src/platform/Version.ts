/** The build's version: the one source of `X-Gateway-Version`, `--version` and the health answer. */
import manifest from "../../package.json" with { type: "json" }

export const version: string = manifest.version
