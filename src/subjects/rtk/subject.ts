/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const rtk = subject("rtk", {
  skill: "gw-context-rtk",
  routes: {
    config: manage("GET", "/api/context/rtk/config"),
    setConfig: manage("PUT", "/api/context/rtk/config"),
    filters: manage("GET", "/api/context/rtk/filters"),
    test: manage("POST", "/api/context/rtk/test"),
    rawOutput: manage("GET", "/api/context/rtk/raw-output/:id")
  }
})
