/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { open, session } from "../../contract/tiers/Tiers.ts"

export const signIn = subject("signIn", {
  skill: "gw-auth",
  routes: {
    offered: open("GET", "/api/sign-in"),
    begin: open("GET", "/api/sign-in/:id/begin"),
    callback: open("GET", "/api/sign-in/:id/callback"),
    logout: session("POST", "/api/sign-in/logout", "ownSession")
  }
})
