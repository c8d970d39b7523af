// The one place where Asio and Beast themselves are compiled (separate compilation: every other
// unit builds in a third of the time).
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
