/** A flag that once had two meanings. `--api-key` is the key of a provider, on the commands that store one; the gateway's is `--gateway-key`. */
import { BadArgument } from "../Failure.ts"

const takesProviderKey = (words: ReadonlyArray<string>): boolean => {
  const [first = "", second = ""] = words
  if (first === "setup" || first.startsWith("setup-")) return true
  return /^(?:providers?|nodes?)$/.test(first) && /^(?:add|create|new|edit|set|update|validate)$/.test(second)
}

/** Refuses arguments that hold `--api-key` where it is no provider's key; null else. */
export const oldFlagProblem = (argv: ReadonlyArray<string>): BadArgument | null => {
  const isOld = argv.some((word) => word === "--api-key" || word.startsWith("--api-key="))
  if (!isOld || takesProviderKey(argv.filter((word) => !word.startsWith("-")))) return null
  return new BadArgument({
    message: "--api-key is the key of a provider, and this command takes none.",
    hint: "The gateway's own key is --gateway-key, or GATEWAY_ADMIN_KEY in the environment."
  })
}
