"""The part of the corpus about who listens: dropbear, uhttpd, and what stands beside."""

from tests.change.reach.corpus import case


def listener_cases():
    """Add the cases."""
    ssh()
    pages()
    beside()


def ssh():
    case(
        "SSH goes to another port",
        "yes",
        "zone lan accepts every port",
        "set dropbear.main.Port=2222",
        "ssh",
        new_address="192.168.1.1:2222",
    )
    case(
        "SSH goes to another port, by IPv6",
        "yes",
        "dropbear listens on both families",
        "set dropbear.main.Port=2222",
        "ssh6",
        new_address="[fd8c:fe35:ec99::1]:2222",
    )
    case(
        "SSH goes to a port that is shut",
        "no",
        "the only rule is for 22 and 80",
        "set dropbear.main.Port=2222",
        "ssh",
        base="named",
    )
    case("SSH is switched off", "no", "his way is SSH", "set dropbear.main.enable=0", "ssh")
    case("SSH is switched off, pages used", "yes", "his way is the pages", "set dropbear.main.enable=0", "web")
    case("SSH is deleted", "no", "no section, no listener", "delete dropbear.main", "ssh")
    case(
        "SSH for wan only", "no", "10.99.0.81 is not the address that he uses", "set dropbear.main.Interface=wan", "ssh"
    )
    case("SSH for lan only", "yes", "192.168.1.1 is an address of lan", "set dropbear.main.Interface=lan", "ssh")
    case(
        "SSH for lan only, he is outside",
        "no",
        "dropbear then listens on no address of wan",
        "set dropbear.main.Interface=lan",
        "outside",
        base="outside",
    )
    case(
        "SSH for an interface that is not there",
        "no",
        "reloaded, dropbear listens everywhere; at boot it waits for the interface, and never starts",
        "set dropbear.main.Interface=attic",
        "ssh",
    )
    case("SSH directly on lan", "yes", "bound to br-lan, where he is", "set dropbear.main.DirectInterface=lan", "ssh")
    case("SSH directly on wan", "no", "bound to the other device", "set dropbear.main.DirectInterface=wan", "ssh")
    case("SSH directly on nothing", "no", "dropbear is not started", "set dropbear.main.DirectInterface=attic", "ssh")
    case(
        "pages on an address without a host",
        "no",
        "uhttpd asks for a host of no name and gets none",
        "delete uhttpd.main.listen_http\nadd_list uhttpd.main.listen_http=:80",
        "web",
    )
    case(
        "pages on everything, then on one address",
        "yes",
        "the first socket takes all, the second is not made",
        "delete uhttpd.main.listen_http\nadd_list uhttpd.main.listen_http=0.0.0.0:80\n"
        "add_list uhttpd.main.listen_http=192.168.1.1:80",
        "web",
    )
    case(
        "pages on a port alone",
        "yes",
        "no host means every address",
        "delete uhttpd.main.listen_http\nadd_list uhttpd.main.listen_http=80",
        "web",
    )
    case(
        "pages on a port with a nought before",
        "yes",
        "a port is read as a number",
        "delete uhttpd.main.listen_http\nadd_list uhttpd.main.listen_http=0.0.0.0:080",
        "web",
    )
    case(
        "SSH on a port that is none",
        "no",
        "the section fails its check and is not started",
        "set dropbear.main.Port=99999",
        "ssh",
    )
    case(
        "SSH without passwords",
        "cannot_tell",
        "whether he has a key is not in these files",
        "set dropbear.main.PasswordAuth=off",
        "ssh",
    )
    case(
        "a second SSH beside", "yes", "the first stays", "set dropbear.two=dropbear\nset dropbear.two.Port=2222", "ssh"
    )
    case(
        "SSH on the port of the pages",
        "cannot_tell",
        "two want port 80, and one gets it",
        "set dropbear.main.Port=80",
        "ssh",
    )


def pages():
    case(
        "pages go to another port",
        "yes",
        "zone lan accepts every port",
        "delete uhttpd.main.listen_http\nadd_list uhttpd.main.listen_http=0.0.0.0:8080",
        "web",
        new_address="192.168.1.1:8080",
    )
    case(
        "pages on another port too", "yes", "the old one stays", "add_list uhttpd.main.listen_http=0.0.0.0:8080", "web"
    )
    case(
        "pages on the lan's address",
        "yes",
        "it is the address that he uses",
        "delete uhttpd.main.listen_http\nadd_list uhttpd.main.listen_http=192.168.1.1:80",
        "web",
    )
    case(
        "pages on the loopback only",
        "no",
        "nobody outside reaches 127.0.0.1",
        "delete uhttpd.main.listen_http\nadd_list uhttpd.main.listen_http=127.0.0.1:80",
        "web",
    )
    case("pages for IPv6 only", "no", "he comes by IPv4", "del_list uhttpd.main.listen_http=0.0.0.0:80", "web")
    case(
        "pages for IPv4 only, IPv6 owner", "no", "he comes by IPv6", "del_list uhttpd.main.listen_http=[::]:80", "web6"
    )
    case(
        "pages without an address",
        "yes",
        "a port alone is for all addresses",
        "delete uhttpd.main.listen_http\nadd_list uhttpd.main.listen_http=80",
        "web web6",
    )
    case("pages listen nowhere", "no", "no listen_http is left", "delete uhttpd.main.listen_http", "web")
    case("pages are deleted, SSH used", "yes", "his way is SSH", "delete uhttpd.main", "ssh")
    case(
        "pages go on to HTTPS, can it?",
        "cannot_tell",
        "whether uhttpd has TLS is not known",
        "set uhttpd.main.redirect_https=1",
        "web",
        base="tls",
    )
    case(
        "pages go on to HTTPS, it can",
        "yes",
        "443 is open too",
        "set uhttpd.main.redirect_https=1",
        "web",
        base="tls",
        knows="with tls",
    )
    case(
        "HTTPS is taken away",
        "cannot_tell",
        "pages are left, but only without encryption",
        "delete uhttpd.main.listen_https",
        "tls",
        base="tls",
    )
    case(
        "another certificate",
        "cannot_tell",
        "whether the file is there is not known",
        "set uhttpd.main.cert=/etc/other.crt",
        "tls",
        base="tls",
    )
    case(
        "private peers refused at public addresses",
        "yes",
        "both addresses are private",
        "set uhttpd.main.rfc1918_filter=1",
        "web",
    )
    case("more connections", "yes", "it refuses nobody", "set uhttpd.main.max_connections=200", "web")
    case("another folder of pages", "cannot_tell", "what is in it is not known", "set uhttpd.main.home=/www2", "web")


def beside():
    case(
        "a server of its own, pages change",
        "yes",
        "port 8443 is neither dropbear's nor uhttpd's",
        "add_list uhttpd.main.listen_http=0.0.0.0:8080",
        ["own server"],
    )
    case(
        "a server of its own, and uhttpd takes its port",
        "cannot_tell",
        "two want port 8443",
        "add_list uhttpd.main.listen_http=0.0.0.0:8443",
        ["own server"],
    )
    case(
        "a fixed lease for a printer",
        "yes",
        "a lease is no way",
        "add dhcp host\nset dhcp.@host[-1].mac=00:1e:8f:4a:c2:11\nset dhcp.@host[-1].ip=192.168.1.131",
    )
    case("DHCP off", "yes", "he keeps his address; it is told when his lease ends, not now", "set dhcp.lan.ignore=1")
    case("nothing changes", "yes", "the same files", "set dhcp.lan.start=100")
