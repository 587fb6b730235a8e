"""Sends the requests of standard input with http.client or urllib.request; see exchanges.ts."""

import http.client
import json
import sys
import urllib.request
from urllib.parse import urlsplit

url, module = sys.argv[1:]
sys.stdin.reconfigure(encoding="utf-8")
sys.stdout.reconfigure(encoding="utf-8")
connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)


def with_http_client(method, path, body, headers):
    connection.request(method, path, body, headers)
    return connection.getresponse()


class WithoutExceptions(urllib.request.HTTPErrorProcessor):
    def http_response(self, request, response):
        return response


opener = urllib.request.build_opener(WithoutExceptions)


def with_urllib(method, path, body, headers):
    return opener.open(urllib.request.Request(url + path, body, headers, method=method), timeout=30)


send = {"http.client": with_http_client, "urllib": with_urllib}[module]
for line in sys.stdin:
    method, path, token, body = line.rstrip("\n").split("\t")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if body:
        headers["Content-Type"] = "application/json"
    # As Python's own JSON writes it, which keeps every digit of an integer.
    sent = json.dumps(json.loads(body)).encode() if body else None
    with send(method, path, sent, headers) as response:
        print(f"HTTP_{response.version // 10}_{response.version % 10}", response.status, response.read().decode(), sep="\t")
