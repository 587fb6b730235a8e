/**
 * The key of a user's stream, e.g. `plant-store:{alice}:events`. The user is
 * percent-encoded, so the key is readable, two users never share one, and the
 * braces (which the encoding leaves no user with) make it one hash slot a user
 * on a Redis Cluster.
 */
export function streamKey(prefix: string, stream: string): string {
  return `${prefix}:{${encodeURIComponent(stream)}}:events`;
}
