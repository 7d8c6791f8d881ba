/** Certificates of the hosts that clients ask for, ready for a handshake. One key serves all; each is issued once and kept while it is used. */
import { type KeyObject } from "node:crypto"
import { createSecureContext, type SecureContext } from "node:tls"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { CertificateAuthority } from "./CertificateAuthority.ts"

export interface LeafCertificates {
  /** Hot: null when it has to be issued first. */
  readonly cached: (name: string, nowMs: number) => SecureContext | null
  /** Handshakes for one name at once share what is issued. `name` has passed `certificateName`. */
  readonly contextFor: (name: string, nowMs: number) => Promise<SecureContext>
}

/** Most contexts kept; each has about 50 KiB of OpenSSL's memory. */
export const maxCachedCertificates = 512
/** Remaining time in ms below which a certificate is issued anew. */
const renewBeforeMs = 24 * 3_600_000

interface CachedContext {
  readonly context: SecureContext
  readonly expiresAtMs: number
}

export const makeLeafCertificates = (
  authority: Pick<CertificateAuthority, "issue">,
  key: KeyObject,
  maxCached: number = maxCachedCertificates
): LeafCertificates => {
  const contexts = new LruMap<string, CachedContext>({ capacity: maxCached })
  /** Each has a handshake that waits, so there are no more than connections. */
  const issuing = new Map<string, Promise<SecureContext>>()
  const keyPem = key.export({ type: "pkcs8", format: "pem" })

  const cached = (name: string, nowMs: number): SecureContext | null => {
    const found = contexts.get(name)
    return found !== undefined && nowMs < found.expiresAtMs - renewBeforeMs ? found.context : null
  }

  const issue = async (name: string, nowMs: number): Promise<SecureContext> => {
    try {
      const { certificate, expiresAtMs } = await authority.issue(name, key, nowMs)
      const context = createSecureContext({ cert: certificate, key: keyPem })
      contexts.set(name, { context, expiresAtMs })
      return context
    } finally {
      issuing.delete(name)
    }
  }

  return {
    cached,
    contextFor: async (name, nowMs) => {
      const found = cached(name, nowMs)
      if (found !== null) return found
      const running = issuing.get(name)
      if (running !== undefined) return running
      const started = issue(name, nowMs)
      issuing.set(name, started)
      return started
    }
  }
}
