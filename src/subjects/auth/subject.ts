/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { known, local, manage, open, owner, session } from "../../contract/tiers/Tiers.ts"

export const auth = subject("auth", {
  skill: "gw-auth",
  handlers: "usual",
  routes: {
    me: known("GET", "/api/me"),
    login: open("POST", "/api/auth/login"),
    logout: session("POST", "/api/auth/logout", "ownSession"),
    setPassword: owner("PUT", "/api/auth/password"),
    changePassword: session("POST", "/api/auth/password", "replace"),
    session: session("GET", "/api/auth/session", "ownSession"),
    issueCode: owner("POST", "/api/auth/codes"),
    exchangeCode: local("POST", "/api/auth/codes/exchange"),
    listSessions: manage("GET", "/api/auth/sessions"),
    endSession: manage("DELETE", "/api/auth/sessions/:id", "replace"),
    endSessions: manage("DELETE", "/api/auth/sessions", "replace")
  }
})
