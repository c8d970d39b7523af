// Whose token it is, as far as that can be read: the namespace of a service account. Nothing is believed of it; it only
// saves typing, and the server decides by the token itself.

/** The claims of a JSON Web Token; empty for a token of another kind. */
function claimsOf(token) {
  const part = token.split(".")[1] ?? "";
  try {
    const bytes = Uint8Array.from(atob(part.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
    const claims = JSON.parse(new TextDecoder().decode(bytes));
    return claims && typeof claims === "object" ? claims : {};
  } catch {
    return {};
  }
}

/** The namespace of the service account that is named in `text`; empty where none is. */
export const accountNamespaceIn = (text) => /system:serviceaccount:([a-z0-9-]{1,63}):/.exec(text)?.[1] ?? "";

/** The namespace of the service account that a token was made for; empty where the token does not tell. */
export function namespaceOf(token) {
  const claims = claimsOf(token);
  const bound = claims["kubernetes.io"]?.namespace;
  return typeof bound === "string" && bound ? bound : accountNamespaceIn(`${claims.sub ?? ""}:`);
}
