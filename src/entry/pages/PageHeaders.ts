/** Headers of the pages for people. They load from this gateway only, run no script of their own text, and are in no frame. */

const policy = (...own: ReadonlyArray<string>): string =>
  ["default-src 'none'", ...own, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join("; ")

/** The page at `/` has a style, an icon, and nothing else. */
export const rootPolicy = policy("style-src 'self'", "img-src 'self'")

/** The viewer runs its script, draws with pictures in its own style, and asks this gateway. */
export const viewerPolicy = policy(
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'"
)

/** A page whose links lead below the path at which a proxy serves the gateway; empty: at its root. */
export const pageBelow = (page: string, prefix: string): string =>
  prefix === ""
    ? page
    : page.replaceAll(/(href="|src="|; url=)\/(?!\/)/g, (_all, before: string) => `${before}${prefix}/`)

const always: Readonly<Record<string, string>> = {
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin"
}

export const htmlType = "text/html; charset=utf-8"

/**
 * Returns the headers of a page under a policy. Pages are small and change with the version, so they are asked for
 * anew.
 */
export const pageHeaders = (contentSecurityPolicy: string): Readonly<Record<string, string>> => ({
  ...always,
  "Content-Security-Policy": contentSecurityPolicy,
  "Cache-Control": "no-cache"
})

/**
 * Returns the headers of a file that a page loads. `isNamed`: it was asked for by this very version, so that it may be
 * kept for good.
 */
export const fileHeaders = (etag: string, isNamed: boolean): Readonly<Record<string, string>> => ({
  ...always,
  ETag: etag,
  "Cache-Control": isNamed ? "public, max-age=31536000, immutable" : "no-cache"
})
