/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { open, owner, session } from "../../contract/tiers/Tiers.ts"

export const auth = subject("auth", {
  skill: "gw-auth",
  handlers: "usual",
  routes: {
    login: open("POST", "/api/auth/login"),
    logout: session("POST", "/api/auth/logout"),
    setPassword: owner("PUT", "/api/auth/password"),
    changePassword: session("POST", "/api/auth/password"),
    session: session("GET", "/api/auth/session")
  }
})
