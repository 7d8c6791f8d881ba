/** Finds out whether the gateway that answers now has another dashboard than this page: it was updated, or set back. */
import { signal } from "@preact/signals"
import { gatewayUrl } from "../api/client.ts"

const own = document.documentElement.dataset["build"] ?? ""

/** `other`: it has another one; `none`: it has no dashboard. */
export const builtState = signal<"same" | "other" | "none">("same")

let isAsking = false

/** Asks the gateway for its shell, whose header names the build. No answer tells nothing. */
export const lookForBuild = async (): Promise<void> => {
  if (isAsking) return
  isAsking = true
  try {
    const response = await fetch(new URL("dashboard/", gatewayUrl), { cache: "no-store" })
    const build = response.headers.get("x-gateway-dashboard-build")
    if (response.status === 404) builtState.value = "none"
    else if (build !== null) builtState.value = build === own ? "same" : "other"
  } catch {
    // The socket says that the gateway is away.
  } finally {
    isAsking = false
  }
}
