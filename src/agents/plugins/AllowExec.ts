/**
 * Decides whether plugins may start programs at all: by `GATEWAY_PLUGINS_ALLOW_EXEC`, which only the process that
 * starts the gateway can set.
 */
import { booleanOf } from "../../kernel/text/BooleanText.ts"

export const allowsExec = (environment: ReadonlyMap<string, string>): boolean =>
  booleanOf(environment.get("GATEWAY_PLUGINS_ALLOW_EXEC") ?? "") === true
