/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage, open } from "../../contract/tiers/Tiers.ts"

export const oauth = subject("oauth", {
  skill: "gw-auth",
  routes: {
    act: manage("POST", "/api/oauth/:provider/:action"),
    callback: open("GET", "/api/oauth/:provider/callback")
  }
})
